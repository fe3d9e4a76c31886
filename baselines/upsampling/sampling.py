"""Where the samples of a low-resolution map lie in the full one, and what follows from it.

Classical methods take a sample for what it is: a value at a place. ``center`` picks a pixel that is
half a pixel off the middle of its cell for even factors; the other modes of the protocol average
around the middle, which for even factors lies between four pixels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacbench.protocols.lowres import Mode

Array = NDArray[np.float32]


def sample_offset(factor: int, mode: Mode) -> float:
    """Pixels from the first pixel of a cell to its sample, the same down and across."""
    return {"center": (factor - 1) // 2, "nearest": factor // 2}.get(mode, (factor - 1) / 2)


def sampling_matrix(size: tuple[int, int], factor: int, offset: float) -> sparse.csr_array:
    """(h w, H W) that samples maps of ``size`` (H, W), linearly where they lie between pixels."""
    down, across = (_sampling_1d(length, factor, offset) for length in size)
    return sparse.kron(down, across, format="csr")


def _sampling_1d(length: int, factor: int, offset: float) -> sparse.csr_array:
    first = int(offset)
    share = np.float32(offset - first)
    near = np.arange(first, length, factor)
    samples = np.arange(len(near))
    shape = (len(near), length)
    matrix = sparse.csr_array((np.full(len(near), 1 - share), (samples, near)), shape)
    if share:
        matrix += sparse.csr_array((np.full(len(near), share), (samples, near + 1)), shape)
    return matrix


def grow(low: Array, factor: int, offset: float) -> Array:
    """(..., h, w) to (..., h m, w m), linear between samples that stay in their places.

    Beyond the outermost samples their values are repeated.
    """
    down, across = (_growth_1d(length, factor, offset) for length in low.shape[-2:])
    return np.asarray(down @ low @ across.T)


def _growth_1d(length: int, factor: int, offset: float) -> Array:
    """(length m, length) dense."""
    places = (np.arange(length * factor) - offset) / factor
    hats = 1 - abs(np.clip(places, 0, length - 1)[:, None] - np.arange(length))
    return np.maximum(hats, 0).astype(np.float32)


def distance_to_sample(length: int, factor: int, offset: float) -> Array:
    """(length m,) pixels along one axis to the sample of the own cell."""
    return np.tile(abs(np.arange(factor, dtype=np.float32) - np.float32(offset)), length)
