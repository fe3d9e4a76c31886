"""Bilinear growth in plain numpy: the same bits on every machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def bilinear(
    array: NDArray[np.float32], size: tuple[int, int], align_corners: bool = False
) -> NDArray[np.float32]:
    """Resizes the last two axes of (..., h, w) to ``size`` = (H, W), edges repeated.

    There is no anti-aliasing: meant for growing. ``align_corners`` is torch's: the centres of the
    corner pixels stay where they are, instead of their outer borders.
    """
    # Columns first: while there are few rows, the slow gather along the last axis is cheap.
    return _lerp(_lerp(array, size[1], -1, align_corners), size[0], -2, align_corners)


def _lerp(
    array: NDArray[np.float32], size: int, axis: int, align_corners: bool
) -> NDArray[np.float32]:
    old = array.shape[axis]
    if size == old:
        return array
    new = np.arange(size, dtype=np.float64)
    if align_corners:
        at = new * ((old - 1) / (size - 1)) if size > 1 else new
    else:
        at = (new + 0.5) * (old / size) - 0.5
    at = np.clip(at, 0, old - 1)
    low = at.astype(np.intp)
    high = np.minimum(low + 1, old - 1)
    weight = (at - low).astype(np.float32)
    if axis == -2:
        weight = weight[:, None]
    start = np.take(array, low, axis=axis)
    step: NDArray[np.float32] = np.take(array, high, axis=axis)
    step -= start
    step *= weight
    step += start
    return step
