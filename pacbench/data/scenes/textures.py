"""Surface patterns: functions of surface coordinates, with values in [0, 1].

Most of their edges are neither depth edges nor label edges, which is what guided methods must not
be fooled by.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pacbench.data.draws import Draws

Field2d = NDArray[np.float32]
Texture = Callable[[Field2d, Field2d], Field2d]
"""(u, v) in units of the pattern's period to brightness; arrays broadcast to one shape."""

TILE = 512
_TILE_MASK = TILE - 1


@lru_cache(maxsize=1)
def noise_tile() -> Field2d:
    """(TILE, TILE) smooth noise of several octaves in [0, 1], which repeats without a seam."""
    draws = Draws(0x7E47)
    total = np.zeros((TILE, TILE), dtype=np.float32)
    weight, cells = np.float32(0.5), 8
    while cells <= TILE // 2:
        lattice = draws.units(cells * cells).reshape(cells, cells)
        total += weight * _grow_periodic(_grow_periodic(lattice, 0), 1)
        weight, cells = weight * np.float32(0.62), cells * 2
    low, high = total.min(), total.max()
    tile: Field2d = (total - low) / (high - low)
    return tile


def _grow_periodic(lattice: Field2d, axis: int) -> Field2d:
    cells = lattice.shape[axis]
    step = TILE // cells
    at = np.arange(TILE) // step
    share = ((np.arange(TILE) % step) / step).astype(np.float32)
    share = share * share * (3 - 2 * share)  # smooth, so that cells do not show as creases
    if axis == 0:
        share = share[:, None]
    start: Field2d = np.take(lattice, at, axis=axis)
    end: Field2d = np.take(lattice, (at + 1) % cells, axis=axis)
    grown: Field2d = start + share * (end - start)
    return grown


def noise(u: Field2d, v: Field2d) -> Field2d:
    """The tile, one texel per 1/64 period."""
    column = (u * np.float32(64)).astype(np.int32) & _TILE_MASK
    row = (v * np.float32(64)).astype(np.int32) & _TILE_MASK
    return noise_tile().reshape(-1).take(row * TILE + column, mode="clip")


def _fraction(u: Field2d) -> Field2d:
    return u - np.floor(u)


def stripes(u: Field2d, v: Field2d) -> Field2d:
    return np.where(_fraction(u) < 0.5, np.float32(0), np.float32(1)) + 0 * v


def checks(u: Field2d, v: Field2d) -> Field2d:
    return ((np.floor(u) + np.floor(v)).astype(np.int32) & 1).astype(np.float32)


def bricks(u: Field2d, v: Field2d) -> Field2d:
    """Courses of half a period, every other one shifted, light mortar between them."""
    course = np.floor(v * 2)
    shifted = u + (course.astype(np.int32) & 1) * np.float32(0.5)
    mortar = (_fraction(shifted) < 0.06) | (_fraction(v * 2) < 0.12)
    return np.where(mortar, np.float32(1), np.float32(0.3) * noise(np.floor(shifted), course))


def spots(u: Field2d, v: Field2d) -> Field2d:
    x, y = _fraction(u) - np.float32(0.5), _fraction(v) - np.float32(0.5)
    return (x * x + y * y < np.float32(0.09)).astype(np.float32)


def grain(u: Field2d, v: Field2d) -> Field2d:
    """Long streaks, as of wood."""
    return _fraction(3 * noise(u * np.float32(1.5), v * np.float32(0.12)))


def patches(u: Field2d, v: Field2d) -> Field2d:
    """Hard-edged irregular patches, as of foliage or camouflage."""
    value = noise(u, v)
    dim = (value > 0.4).astype(np.float32) * np.float32(0.4)
    return dim + (value > 0.52).astype(np.float32) * np.float32(0.45)


def ramp(u: Field2d, v: Field2d) -> Field2d:
    """A smooth change across the surface: contrast fades along its outline."""
    value: Field2d = np.clip(np.float32(0.5) + np.float32(0.35) * (u + v), 0, 1)
    return value


TEXTURES: dict[str, Texture] = {
    "bricks": bricks,
    "checks": checks,
    "grain": grain,
    "noise": noise,
    "patches": patches,
    "ramp": ramp,
    "spots": spots,
    "stripes": stripes,
}
