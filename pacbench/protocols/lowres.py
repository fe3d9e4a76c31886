"""How a low-resolution map is made of a full one: four modes, each a protocol of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pacbench.data.resize import bilinear

Map = NDArray[np.float32]
"""(C, H, W)."""

Mode = Literal["center", "nearest", "bicubic", "bilinear"]


def padded_size(size: tuple[int, int], factor: int) -> tuple[int, int]:
    """(H, W), each rounded up to a multiple of the factor."""
    height, width = size
    return height + -height % factor, width + -width % factor


def shrink(target: Map, factor: int, mode: Mode) -> Map:
    """(C, H, W) to (C, ⌈H/factor⌉, ⌈W/factor⌉).

    A size that the factor does not divide is first grown bilinearly to the next multiple, as the
    paper's release does.
    """
    height, width = target.shape[1:]
    grown = bilinear(target, padded_size((height, width), factor))
    return _SHRINK[mode](grown, factor)


def _center(target: Map, factor: int) -> Map:
    """Of each cell the pixel at (factor - 1) // 2: the paper's nearest-neighbour downsampling."""
    first = (factor - 1) // 2
    return np.ascontiguousarray(target[:, first::factor, first::factor])


def _nearest(target: Map, factor: int) -> Map:
    """Of each cell the pixel at its centre: one further than ``center`` for even factors."""
    return np.ascontiguousarray(target[:, factor // 2 :: factor, factor // 2 :: factor])


def _bicubic(target: Map, factor: int) -> Map:
    """The cubic kernel widened by the factor, as MATLAB's ``imresize`` does it."""
    import torch
    from torch.nn import functional

    size = (target.shape[1] // factor, target.shape[2] // factor)
    shrunk = functional.interpolate(
        torch.from_numpy(target)[None], size, mode="bicubic", align_corners=False, antialias=True
    )
    return np.ascontiguousarray(shrunk[0].numpy())


def _bilinear(target: Map, factor: int) -> Map:
    """A Gaussian of sigma (factor - 1) / 2, then linear samples at the cells' centres.

    This is scikit-image's anti-aliased ``resize``, with which the paper's release makes its flow.
    """
    from scipy.ndimage import gaussian_filter

    sigma = (factor - 1) / 2
    smooth = gaussian_filter(target, (0, sigma, sigma), mode="mirror") if sigma else target
    return bilinear(smooth, (target.shape[1] // factor, target.shape[2] // factor))


_SHRINK: dict[Mode, Callable[[Map, int], Map]] = {
    "center": _center,
    "nearest": _nearest,
    "bicubic": _bicubic,
    "bilinear": _bilinear,
}


def fill_invalid(target: Map, valid: NDArray[np.bool_]) -> Map:
    """Gives every invalid pixel the value of the nearest valid one.

    Raises:
        ValueError: no pixel is valid.
    """
    if valid.all():
        return target
    if not valid.any():
        raise ValueError("no pixel of the target is valid: there is nothing to shrink")
    from scipy.ndimage import distance_transform_edt

    rows, columns = distance_transform_edt(~valid, return_distances=False, return_indices=True)
    return target[:, rows, columns]
