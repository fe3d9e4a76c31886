"""Joint bilateral upsampling, as PAC.

    u_i = Σ_s K_is f_s / Σ_s K_is,   K_is = exp(−|p_i − p_s|² / 2σ_s² − |I_i − I_s|² / 2σ_r²)

over the 5×5 samples s around the cell of pixel i, p being positions in low-resolution pixels: the
transposed PAC of the samples with stride m, divided by that of ones. A transposed PAC of stride m
is m² ordinary ones at low resolution, one for each place in a cell, and is computed so: these have
25 taps each, where a window over the full grid has (5m)² of which all but 25 meet no sample. Where
no sample resembles the pixel, so that all K vanish, the map is interpolated.

OpenCV's joint bilateral filter is no substitute: it filters maps that are at full resolution.
"""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional

from pacbench import kernels
from pacbench.baselines.upsampling.base import UpsampleMethod, UpsampleParams
from pacbench.baselines.upsampling.sampling import sample_offset
from pacbench.method import Context, MethodInfo, methods

WINDOW = 5
"""Samples across, as in the paper."""

LEAST_SUM = 1e-8
"""Of the K of a pixel, before interpolation counts."""


class JointBilateralParams(UpsampleParams):
    sigma_spatial: float = Field(0.7, gt=0, description="σ_s, in low-resolution pixels")
    sigma_range: float = Field(0.07, gt=0, description="σ_r, in shares of the guide's range")


def joint_bilateral_upsample(
    low: Tensor,
    guide: Tensor,
    factor: int,
    offset: float,
    sigma_spatial: float,
    sigma_range: float,
    backend: str | None = None,
) -> Tensor:
    """(1, C, h, w) and (1, 3, h m, w m) to (1, C, h m, w m); see :func:`sample_offset`."""
    features = torch.cat([guide / sigma_range, _positions(guide) / (sigma_spatial * factor)], 1)
    at_pixels = _phases(features, factor)
    at_samples = _sampled(features, factor, offset).expand_as(at_pixels)
    with_ones = torch.cat([low, torch.ones_like(low[:, :1])], 1)
    sums = kernels.pac_pool2d(
        with_ones.expand(factor**2, -1, -1, -1),
        at_samples,
        WINDOW,
        padding=WINDOW // 2,
        centre=at_pixels,
        backend=backend,
    )
    sums = functional.pixel_shuffle(sums.transpose(0, 1), factor).transpose(0, 1)
    grown = functional.interpolate(low, scale_factor=factor, mode="bilinear")
    return (sums[:, :-1] + LEAST_SUM * grown) / (sums[:, -1:] + LEAST_SUM)


def _positions(guide: Tensor) -> Tensor:
    """(1, 2, H, W): row and column of each pixel."""
    height, width = guide.shape[2:]
    rows = torch.arange(height, dtype=guide.dtype, device=guide.device)
    columns = torch.arange(width, dtype=guide.dtype, device=guide.device)
    return torch.stack(torch.meshgrid(rows, columns, indexing="ij"))[None]


def _phases(features: Tensor, factor: int) -> Tensor:
    """(1, C, h m, w m) to (m², C, h, w): the first, second, … pixels of all cells."""
    return functional.pixel_unshuffle(features.transpose(0, 1), factor).transpose(0, 1).contiguous()


def _sampled(features: Tensor, factor: int, offset: float) -> Tensor:
    """(1, C, h m, w m) to (1, C, h, w), as the low-resolution map was sampled."""
    first = int(offset)
    if first == offset:
        return features[:, :, first::factor, first::factor]
    across = features[..., first::factor] + features[..., first + 1 :: factor]
    return (across[:, :, first::factor] + across[:, :, first + 1 :: factor]) / 4


@methods.register("jbu")
class JointBilateralUpsampling(UpsampleMethod):
    info = MethodInfo(
        title="JBU",
        paper="Kopf, Cohen, Lischinski & Uyttendaele, Joint bilateral upsampling",
        year=2007,
        task="upsample",
        learnable=False,
        devices=("cpu", "cuda"),
        backends=("native", "reference"),
    )
    Params = JointBilateralParams

    def __init__(self, params: JointBilateralParams, context: Context) -> None:
        super().__init__(params, context)
        self.backend = context.backend
        self.offset = sample_offset(self.factor, self.protocol.mode)

    def upsample(self, low: Tensor, guide: Tensor) -> Tensor:
        output = joint_bilateral_upsample(
            low.flatten(0, 1)[None],
            guide,
            self.factor,
            self.offset,
            self.params.sigma_spatial,
            self.params.sigma_range,
            self.backend,
        )
        return output.reshape(*low.shape[:2], *guide.shape[2:])
