"""Polygons to pixels: even-odd fill, with holes, in IEEE basic operations only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Outline = NDArray[np.float64]
"""(n, 2) vertices (x, y) in pixels; a pixel's centre is at half-integers."""

Window = tuple[slice, slice]
"""Rows and columns of the image."""


def window_of(outline: Outline, shape: tuple[int, int]) -> Window | None:
    """The pixels of an (H, W) image that the outline's bounding box covers; None if none."""
    (left, top), (right, bottom) = outline.min(axis=0), outline.max(axis=0)
    height, width = shape
    rows = slice(max(int(np.floor(top)), 0), min(int(np.ceil(bottom)), height))
    columns = slice(max(int(np.floor(left)), 0), min(int(np.ceil(right)), width))
    if rows.start >= rows.stop or columns.start >= columns.stop:
        return None
    return rows, columns


def fill(outlines: Sequence[Outline], window: Window) -> NDArray[np.bool_]:
    """True where a pixel's centre is inside an odd number of the outlines.

    Each edge toggles, in every row it crosses, all pixels to its right; toggles are counted at the
    crossing and summed along the row, so the cost is edges times rows plus the window's area.
    """
    rows, columns = window
    height, width = rows.stop - rows.start, columns.stop - columns.start
    start = np.concatenate(outlines)
    end = np.concatenate([np.roll(outline, -1, axis=0) for outline in outlines])
    centre = np.arange(rows.start, rows.stop) + 0.5

    x0, y0 = start[:, :1], start[:, 1:]
    x1, y1 = end[:, :1], end[:, 1:]
    crosses = (y0 <= centre) != (y1 <= centre)
    rise = np.where(y1 == y0, 1.0, y1 - y0)
    crossing = x0 + (centre - y0) * ((x1 - x0) / rise)
    column = np.clip(np.ceil(crossing - 0.5) - columns.start, 0, width).astype(np.intp)

    cell = column + np.arange(height) * (width + 1)
    toggles = np.bincount(cell[crosses], minlength=height * (width + 1)) & 1
    odd = np.bitwise_xor.accumulate(
        toggles.astype(np.uint8).reshape(height, width + 1)[:, :width], axis=1
    )
    return odd.view(np.bool_)
