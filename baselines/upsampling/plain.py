"""Interpolation that knows nothing of the image: nearest, bilinear, bicubic.

A low-resolution pixel is taken to lie in the middle of its cell, as everywhere in the field and in
the paper's tables, though the paper's ``center`` protocol picks it half a pixel off for even
factors. Bicubic is Keys' kernel with a = −1/2, MATLAB's and Pillow's, not the −3/4 of torch's
default; alone of the three it overshoots at edges, and its output may leave the input's range.
"""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor
from torch.nn import functional

from pacbench.baselines.upsampling.base import UpsampleMethod
from pacbench.method import MethodInfo, methods


def _info(title: str) -> MethodInfo:
    return MethodInfo(
        title=title,
        paper="Keys, Cubic convolution interpolation for digital image processing",
        year=1981,
        task="upsample",
        learnable=False,
        devices=("cpu", "cuda"),
        backends=("torch",),
    )


class Interpolation(UpsampleMethod):
    """torch's ``interpolate`` to the guide's size."""

    mode: ClassVar[str]
    options: ClassVar[dict[str, bool]] = {}

    def upsample(self, low: Tensor, guide: Tensor) -> Tensor:
        size = [guide.shape[2], guide.shape[3]]
        return functional.interpolate(low, size, mode=self.mode, **self.options)


@methods.register("nearest")
class Nearest(Interpolation):
    info = _info("Nearest")
    mode = "nearest"


@methods.register("bilinear")
class Bilinear(Interpolation):
    info = _info("Bilinear")
    mode = "bilinear"
    options: ClassVar[dict[str, bool]] = {"align_corners": False}


@methods.register("bicubic")
class Bicubic(Interpolation):
    info = _info("Bicubic")
    mode = "bicubic"
    # `antialias` changes nothing in growing but the kernel, to a = −1/2.
    options: ClassVar[dict[str, bool]] = {"align_corners": False, "antialias": True}
