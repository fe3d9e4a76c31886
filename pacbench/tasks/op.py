"""Operators on their own: timed, not scored."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pacbench.data.base import Sample
from pacbench.method import Method, MethodInfo
from pacbench.protocols.base import ProtocolParams
from pacbench.tasks.base import Array, Pictures, Task, tasks

FLOAT_BYTES = 4


@tasks.register("op")
class OpTask(Task):
    """Takes any finite output; whether it is right is for the tests of the operator."""

    protocol = "timed only"

    def __init__(self, example: Sample, protocol: ProtocolParams) -> None: ...

    def score(self, output: Array, sample: Sample) -> dict[str, float]:  # noqa: ARG002
        return {}

    def summary(self) -> dict[str, float]:
        return {}

    def pictures(self, output: Array, sample: Sample) -> Pictures:  # noqa: ARG002
        return {}


def features_of(sample: Sample, device: str) -> Tensor:
    """The features of a sample as (1, C, H, W) on the device."""
    if sample.unary is None:
        raise ValueError(f"sample '{sample.name}' has no features; an operator needs them")
    return torch.from_numpy(sample.unary)[None].to(device)


def weights(*shape: int, device: str) -> Tensor:
    """Normal weights that keep the size of what they are applied to; seeded by the worker."""
    fan_in = max(1, int(np.prod(shape[1:])))
    return torch.randn(shape, device=device) / fan_in**0.5


class OpMethod(Method):
    """A method whose output is a tensor."""

    def finish(self, output: Tensor) -> NDArray[np.floating[Any]]:
        return output.detach().cpu().numpy()


def op_info(title: str, **changes: Any) -> MethodInfo:
    """What is the same for the operators of this package."""
    return MethodInfo(
        **{
            "title": title,
            "paper": "Su et al., Pixel-adaptive convolutional neural networks",
            "year": 2019,
            "task": "op",
            "learnable": False,
            "devices": ("cpu", "cuda"),
            "backends": ("native", "reference"),
            **changes,
        }
    )
