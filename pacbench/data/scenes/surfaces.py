"""The three surfaces everything is built of: flat faces, ellipsoids and upright cones.

Points are in camera coordinates (X right, Y down, Z forward, metres). Along a pixel's ray
(x, y, 1) a plane's inverse depth is affine in x and y, and the other two are roots of a quadratic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from pacbench.data.scenes.canvas import Canvas, Material
from pacbench.data.scenes.raster import Window, fill, window_of
from pacbench.data.scenes.textures import Field2d

Points = NDArray[np.float64]
Light = tuple[float, float, float]
"""Unit vector towards the light."""

NEAREST = 0.4
"""Metres; what comes nearer to the camera is not drawn."""

AMBIENT = 0.55

ONE = np.float32(1)


def paint_face(
    canvas: Canvas, outlines: Sequence[Points], material: Material, light: Light
) -> None:
    """A flat face: its outline (n, 3), then the outlines of its holes, all in one plane."""
    outer = outlines[0]
    if min(float(outline[:, 2].min()) for outline in outlines) < NEAREST:
        return
    pixels = [canvas.project(outline) for outline in outlines]
    window = window_of(pixels[0], canvas.shape)
    if window is None:
        return
    along = _unit(outer[1] - outer[0])
    normal = _unit(_cross(along, outer[2] - outer[0]))
    distance = _dot(normal, outer[0])
    if abs(distance) < 1e-6:  # seen edge-on
        return
    across = _cross(normal, along)

    x, y = canvas.rays(window)
    inverse = _affine(normal, x, y) * np.float32(1.0 / distance)
    inside = fill(pixels, window) & (inverse > 0)
    depth: Field2d = ONE / np.maximum(inverse, np.float32(1e-3))
    towards = -1.0 if distance > 0 else 1.0
    shading = _brightness(towards * _dot(normal, np.array(light)))
    surface = (_affine(along, x, y) * depth, _affine(across, x, y) * depth)
    canvas.paint(window, inverse, inside, surface, np.float32(shading), material)


def paint_ellipsoid(
    canvas: Canvas,
    centre: Points,
    radii: tuple[float, float, float],
    material: Material,
    light: Light,
    outlines: Sequence[Points] = (),
) -> None:
    """An axis-aligned ellipsoid, cut to the outlines (n, 3) and their holes if there are any."""
    if centre[2] - max(radii) < NEAREST:
        return
    window = _window_of_box(canvas, centre - np.array(radii), centre + np.array(radii))
    if window is None:
        return
    x, y = canvas.rays(window)
    a, b, c = (np.float32(1.0 / (radius * radius)) for radius in radii)
    cx, cy, cz = (np.float32(value) for value in centre)
    square = a * (x * x) + b * (y * y) + c
    half = a * cx * x + b * cy * y + c * cz
    constant = a * cx * cx + b * cy * cy + c * cz * cz - np.float32(1)
    under_root = half * half - square * constant
    inside = under_root > 0
    if outlines:
        inside &= fill([canvas.project(outline) for outline in outlines], window)
    depth: Field2d = np.divide(half - np.sqrt(np.maximum(under_root, 0)), square)
    nx, ny, nz = a * (x * depth - cx), b * (y * depth - cy), c * (depth - cz)
    surface = (x * depth - cx, y * depth - cy)
    canvas.paint(window, ONE / depth, inside, surface, _shade(nx, ny, nz, light), material)


def paint_cone(
    canvas: Canvas,
    base: Points,
    height: float,
    radii: tuple[float, float],
    material: Material,
    light: Light,
) -> None:
    """The side of an upright cone or cylinder on ``base`` (3,), with its bottom and top radius."""
    reach = max(radii)
    if base[2] - reach < NEAREST:
        return
    top = base[1] - height
    low, high = base - np.array([reach, height, reach]), base + np.array([reach, 0.0, reach])
    window = _window_of_box(canvas, low, high)
    if window is None:
        return
    x, y = canvas.rays(window)
    # The radius is r(Y) = k + slope * Y; (X - bx)^2 + (Z - bz)^2 = r^2 along (x, y, 1) * depth.
    slope = np.float32((radii[0] - radii[1]) / height)
    k = np.float32(radii[0]) - slope * np.float32(base[1])
    bx, bz = np.float32(base[0]), np.float32(base[2])
    square = x * x + np.float32(1) - (slope * slope) * (y * y)
    half = bx * x + bz + (k * slope) * y
    constant = bx * bx + bz * bz - k * k
    under_root = half * half - square * constant
    depth: Field2d = np.divide(half - np.sqrt(np.maximum(under_root, 0)), square)
    level = y * depth
    inside = (under_root > 0) & (level <= np.float32(base[1])) & (level >= np.float32(top))
    np.copyto(depth, ONE, where=~inside)
    nx, nz = x * depth - bx, depth - bz
    ny = -slope * (k + slope * level)
    surface = (nx + nz, level - np.float32(base[1]))
    canvas.paint(window, ONE / depth, inside, surface, _shade(nx, ny, nz, light), material)


def _window_of_box(canvas: Canvas, low: Points, high: Points) -> Window | None:
    """The pixels that a box with these two corners, and so anything in it, can cover."""
    corners = product(*zip(low.tolist(), high.tolist(), strict=True))
    return window_of(canvas.project(np.array(list(corners))), canvas.shape)


def _affine(vector: Points, x: Field2d, y: Field2d) -> Field2d:
    a, b, c = (np.float32(value) for value in vector)
    return a * x + (b * y + c)


def _brightness(cosine: float) -> float:
    return AMBIENT + (1 - AMBIENT) * max(cosine, 0.0)


def _shade(nx: Field2d, ny: Field2d, nz: Field2d, light: Light) -> Field2d:
    lx, ly, lz = (np.float32(value) for value in light)
    length = np.sqrt(nx * nx + ny * ny + nz * nz)
    cosine = (nx * lx + ny * ly + nz * lz) / np.maximum(length, np.float32(1e-6))
    lit: Field2d = np.maximum(cosine, 0)
    return np.float32(AMBIENT) + np.float32(1 - AMBIENT) * lit


# numpy's dot and cross may sum in any order; these do not.
def _dot(a: Points, b: Points) -> float:
    return float(a[0]) * float(b[0]) + float(a[1]) * float(b[1]) + float(a[2]) * float(b[2])


def _cross(a: Points, b: Points) -> Points:
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def _unit(vector: Points) -> Points:
    return vector / math.sqrt(_dot(vector, vector))
