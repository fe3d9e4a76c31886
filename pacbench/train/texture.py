"""Random patterns over the guides of a training: edges that have no counterpart in the target."""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray

CELLS = (1, 2, 3, 4, 6, 8, 12, 16)
"""Sizes in pixels of a pattern's cells."""

PATCH = 32
"""Size in pixels of the patches that have the pattern, half of them."""


def textured(image: NDArray[np.uint8], contrast: float, draw: random.Random) -> NDArray[np.uint8]:
    """A (3, H, W) image with cells of random colours, at most ``contrast`` times 255 off."""
    numbers = np.random.default_rng(draw.getrandbits(64))
    rows, columns = image.shape[1:]
    cell = draw.choice(CELLS)
    grey = numbers.uniform(-1, 1, (1, -(-rows // cell) + 1, -(-columns // cell) + 1))
    colour = numbers.uniform(-1, 1, (3, *grey.shape[1:]))
    pattern = _grown(0.7 * grey + 0.3 * colour, cell, draw)[:, :rows, :columns]
    patches = numbers.random((1, -(-rows // PATCH) + 1, -(-columns // PATCH) + 1)) < 0.5
    there = _grown(patches, PATCH, draw)[:, :rows, :columns]
    changed = image + 255 * contrast * pattern * there
    return np.rint(changed).clip(0, 255).astype(np.uint8)


def _grown(cells: NDArray[np.generic], size: int, draw: random.Random) -> NDArray[np.generic]:
    """Each cell so many pixels across, less a random part of the first row and column."""
    pixels = cells.repeat(size, axis=1).repeat(size, axis=2)
    return pixels[:, draw.randrange(size) :, draw.randrange(size) :]
