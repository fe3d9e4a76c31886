"""What upsampling methods share: inputs made by the protocol, outputs brought back to its units."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pacbench.data.base import Sample
from pacbench.method import Context, Method, MethodParams
from pacbench.protocols import UpsampleInputs, UpsampleProtocol


class UpsampleParams(MethodParams):
    """Parameters of an upsampling method; factor and target are the protocol's."""


class Prepared(NamedTuple):
    """What ``run`` starts from, on the device.

    Attributes:
        low: (N, C, h, w) in [0, 1]: a depth map, or u and v as two images or two channels.
        guide: (1, 3, h m, w m) RGB in [0, 1], for all N images.
        inputs: the same as arrays, with what undoes the normalisation.
    """

    low: Tensor
    guide: Tensor
    inputs: UpsampleInputs


class Upsampled(NamedTuple):
    """An output (N, C, h m, w m) and the inputs that it belongs to."""

    output: Tensor
    inputs: UpsampleInputs


class UpsampleMethod(Method):
    """A method that is one function from (low, guide) to the full map: see :meth:`upsample`.

    Attributes:
        protocol: how inputs are made.
        factor: upsampling factor m.
    """

    Params = UpsampleParams

    def __init__(self, params: Any, context: Context) -> None:
        if not isinstance(context.protocol, UpsampleProtocol):
            raise TypeError(f"the context's protocol is {context.protocol!r}, not of upsampling")
        self.params = params
        self.protocol = context.protocol
        self.factor = context.protocol.factor
        self.device, self.seed = context.device, context.seed

    @abstractmethod
    def upsample(self, low: Tensor, guide: Tensor) -> Tensor:
        """(N, C, h, w) in [0, 1] and (1, 3, h m, w m) in [0, 1] to (N, C, h m, w m)."""

    def prepare(self, sample: Sample) -> Prepared:
        inputs = self.protocol.inputs_of(sample, self.seed)
        low, guide = (torch.from_numpy(a).to(self.device) for a in (inputs.low, inputs.guide))
        return Prepared(low, guide, inputs)

    def run(self, inputs: Prepared) -> Upsampled:
        return Upsampled(self.upsample(inputs.low, inputs.guide), inputs.inputs)

    def finish(self, output: Upsampled) -> NDArray[np.floating[Any]]:
        """(N C, H, W) in metres or pixels."""
        return output.inputs.finish(output.output.cpu().numpy())
