"""Which pixels of a depth map or flow are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]

UNKNOWN_FLOW = 1e7
"""Pixels; .flo files mark unknown flow by larger values."""


def known_depth(depth: NDArray[np.float32]) -> Mask:
    """(H, W) False where the depth is zero, negative, NaN or infinite."""
    return np.isfinite(depth) & (depth > 0)


def known_flow(flow: NDArray[np.float32]) -> Mask:
    """(H, W) False where u or v is NaN or over 1e7 in size."""
    return np.asarray(np.all(np.abs(flow) <= UNKNOWN_FLOW, axis=0), dtype=bool)


def clear_unknown(
    values: NDArray[np.float32], known: Mask
) -> tuple[NDArray[np.float32], Mask | None]:
    """The map (H, W) or (C, H, W) with zeros where it is unknown, and the mask if it says anything.

    NaN and infinity must not reach a method: one pixel of them spoils a whole convolution.
    """
    if known.all():
        return values, None
    return np.where(known, values, np.float32(0)), known
