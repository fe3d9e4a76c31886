"""What real pairs of guide and map have, and generated ones lack.

Real images are full of edges that mean nothing, and real maps are smooth nearly everywhere.
Networks that learned on plain scenes trust every edge.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from pacbench.protocols.lowres import Map

CELLS = (1, 2, 3, 4, 6, 8, 12, 16)
"""Sizes in pixels of a pattern's cells."""

PATCH = 32
"""Size in pixels of the patches that have the pattern, half of them."""

SMOOTH = 1.5
"""Deviation, in pixels of the low-resolution map, of the Gaussian that takes edges from a map."""


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


def smoothed(target: Map, factor: int) -> Map:
    """A (C, H, W) map with no edges that a low-resolution one of this factor would not show."""
    sigma = SMOOTH * factor
    blurred: Map = gaussian_filter(target, (0, sigma, sigma), mode="nearest")
    return blurred


def _grown(cells: NDArray[Any], size: int, draw: random.Random) -> NDArray[Any]:
    """Each cell so many pixels across, less a random part of the first row and column."""
    pixels = cells.repeat(size, axis=1).repeat(size, axis=2)
    return pixels[:, draw.randrange(size) :, draw.randrange(size) :]
