"""Methods that work on numpy arrays, channel by channel of the map, and keep to its range."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pacbench.baselines.upsampling.base import UpsampleMethod
from pacbench.baselines.upsampling.sampling import sample_offset
from pacbench.method import Context

Array = NDArray[np.float32]


class ArrayMethod(UpsampleMethod):
    """One function from arrays to an array: see :meth:`filter`.

    Attributes:
        offset: where in its cell a sample lies, pixels.
    """

    def __init__(self, params: Any, context: Context) -> None:
        super().__init__(params, context)
        self.offset = sample_offset(self.factor, self.protocol.mode)

    @abstractmethod
    def filter(self, low: Array, guide: Array) -> Array:
        """(C, h, w) and (3, h m, w m) in [0, 1] to (C, h m, w m).

        What depends on the guide alone is to be computed once for all channels: of a flow they are
        u and v, whether the protocol makes two images of them or one.
        """

    def upsample(self, low: Tensor, guide: Tensor) -> Tensor:
        channels = low.flatten(0, 1)
        output = torch.from_numpy(self.filter(channels.numpy(), guide[0].numpy()))
        return output.reshape(*low.shape[:2], *guide.shape[2:])


def within_range(output: Array, low: Array) -> Array:
    """(C, H, W) without what a solver that stops early adds beyond the range of (C, h, w)."""
    axes = (1, 2)
    return np.clip(output, low.min(axes, keepdims=True), low.max(axes, keepdims=True))
