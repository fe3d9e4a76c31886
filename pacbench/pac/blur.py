"""Coarse messages: average pooling on the way in, bilinear growth on the way out."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def _margin(size: int, factor: int) -> int:
    """Padding, on both sides, that lets blocks of ``factor`` cover ``size`` pixels."""
    return ((-size) % factor + 1) // 2


def shrink(image: Tensor, factor: int) -> Tensor:
    """Means over blocks of ``factor``² pixels of (B, C, H, W), those outside left out."""
    if factor == 1:
        return image
    margins = tuple(_margin(size, factor) for size in image.shape[2:])
    return F.avg_pool2d(image, factor, padding=margins, count_include_pad=False)


def grow(image: Tensor, factor: int, size: tuple[int, int]) -> Tensor:
    """Undo :func:`shrink` of an image of ``size`` (H, W) by bilinear interpolation."""
    if factor == 1:
        return image
    grown = F.interpolate(image, scale_factor=factor, mode="bilinear", align_corners=False)
    top, left = (_margin(length, factor) for length in size)
    return grown[:, :, top : top + size[0], left : left + size[1]]
