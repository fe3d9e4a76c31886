"""What stands behind the objects: a room or an open place, with decals and shadows on it.

The stage is convex as seen from the camera, so that its inverse depth is the largest of its
surfaces'. Rugs, posters and patches of light lie on it: strong colour edges without a depth edge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacbench.data.draws import Draws
from pacbench.data.scenes import kinds
from pacbench.data.scenes.canvas import Canvas, Colour, Material
from pacbench.data.scenes.raster import Window, fill, window_of
from pacbench.data.scenes.sculptor import rectangle
from pacbench.data.scenes.surfaces import NEAREST, Light, Points, paint_face
from pacbench.data.scenes.textures import Field2d


class Look(NamedTuple):
    """Colour, texture and its period in metres."""

    colour: Colour
    texture: str
    period: float


FLOORS = (
    Look(kinds.WOOD, "grain", 0.7), Look(kinds.SAND, "checks", 0.8), Look(kinds.GREY, "noise", 1.5),
    Look(kinds.GREEN, "patches", 1.2), Look(kinds.BROWN, "grain", 0.9),
    Look(kinds.GREY, "checks", 0.9), Look(kinds.WHITE, "bricks", 1.1),
    Look(kinds.LEAF, "noise", 1.0),
)  # fmt: skip
WALLS = (
    Look(kinds.SAND, "noise", 3.0), Look(kinds.WHITE, "noise", 2.5),
    Look(kinds.TEAL, "stripes", 0.6), Look(kinds.BRICK, "bricks", 0.5),
    Look(kinds.GREY, "noise", 2.0), Look(kinds.YELLOW, "spots", 0.5),
    Look(kinds.WOOD, "grain", 0.8), Look(kinds.BLUE, "ramp", 6.0),
)  # fmt: skip
SKY = (150, 184, 226)

ON_TOP = np.float32(1.001)
"""A decal's inverse depth over that of what it lies on."""


@dataclass(frozen=True)
class Stage:
    """Where objects can stand, and in what light.

    Attributes:
        below: height of the camera above the ground, metres.
        far: depth of the back wall at the image's centre, metres.
        slant: how much nearer the back wall is per metre to the right.
        light: unit vector towards the light.
        colours: main colours of the stage, for objects that are hard to tell from it.
    """

    below: float
    far: float
    slant: float
    light: Light
    colours: tuple[Colour, ...]


def build_stage(canvas: Canvas, draws: Draws) -> Stage:
    """Paints ground, walls or sky, and decals, all of class 0."""
    below, far = draws.uniform(1.1, 1.7), draws.uniform(5.0, 9.5)
    (lx, lz), lift = draws.turn(0.9), draws.uniform(0.6, 1.4)
    side, up, front = lz, -lift, -abs(lx)
    length = math.sqrt(side * side + up * up + front * front)
    light = (side / length, up / length, front / length)

    floor, wall = draws.choice(FLOORS), draws.choice(WALLS)
    stage = Stage(below, far, draws.uniform(-0.35, 0.35), light, (floor.colour, wall.colour))
    indoors = draws.chance(0.6)
    if indoors:
        _room(canvas, draws, stage, floor, wall)
    else:
        _open_place(canvas, draws, stage, floor)
    for _ in range(draws.between(1, 5)):
        _decal(canvas, draws, stage, on_wall=indoors and draws.chance(0.5))
    return stage


def _room(canvas: Canvas, draws: Draws, stage: Stage, floor: Look, wall: Look) -> None:
    x, y = canvas.x, canvas.y
    slant = np.float32(stage.slant)
    left, right = draws.uniform(1.8, 4.5), draws.uniform(1.8, 4.5)
    ceiling = draws.uniform(1.2, 2.5)
    _surface(canvas, draws, y / np.float32(stage.below) + 0 * x, "xz", 1.0, floor)
    _surface(canvas, draws, (1 + slant * x) / np.float32(stage.far) + 0 * y, "xy", 0.85, wall)
    _surface(canvas, draws, x / np.float32(right) + 0 * y, "zy", 0.7, wall)
    _surface(canvas, draws, -x / np.float32(left) + 0 * y, "zy", 0.78, wall)
    white = Look(kinds.WHITE, "noise", 3.0)
    _surface(canvas, draws, -y / np.float32(ceiling) + 0 * x, "xz", 0.9, white)


def _open_place(canvas: Canvas, draws: Draws, stage: Stage, floor: Look) -> None:
    """Ground, and a round horizon with sky and hills."""
    x, y = canvas.x, canvas.y
    _surface(canvas, draws, y / np.float32(stage.below) + 0 * x, "xz", 1.0, floor)
    horizon = np.sqrt(1 + x * x) / np.float32(stage.far) + 0 * y
    _surface(canvas, draws, horizon, "xy", 1.0, Look(SKY, "noise", 9.0))
    # Hills are painted on the sky: an edge of colour, none of depth.
    level, slope, bend = draws.uniform(-0.25, 0.05), draws.uniform(-0.3, 0.3), draws.uniform(0, 0.6)
    ridge = np.float32(level) + np.float32(slope) * x - np.float32(bend) * (x * x)
    hill = Look(draws.choice((kinds.LEAF, kinds.GREY, kinds.TEAL)), "noise", 2.0)
    _surface(canvas, draws, horizon * ON_TOP, "xy", 0.9, hill, y > ridge)


def _surface(
    canvas: Canvas,
    draws: Draws,
    inverse: Field2d,
    axes: str,
    shading: float,
    look: Look,
    inside: NDArray[np.bool_] | None = None,
) -> None:
    """A surface over the whole image; its texture lies along two of the axes x, y and z."""
    nearer = inverse > canvas.inverse_depth
    if inside is not None:
        nearer &= inside
    window = _window_around(nearer)
    if window is None:
        return
    x, y = canvas.rays(window)
    depth: Field2d = np.divide(np.float32(1), np.maximum(inverse[window], np.float32(1e-3)))
    point = {"x": x * depth, "y": y * depth, "z": depth}
    surface = (point[axes[0]], point[axes[1]])
    material = _material(draws, look)
    canvas.paint(window, inverse[window], nearer[window], surface, np.float32(shading), material)


def _window_around(mask: NDArray[np.bool_]) -> Window | None:
    """The smallest window that holds all that is True."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not rows.size:
        return None
    return slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)


def _material(draws: Draws, look: Look) -> Material:
    return Material(
        low=jitter(draws, look.colour, 18, draws.uniform(0.7, 0.95)),
        high=jitter(draws, look.colour, 18, draws.uniform(0.95, 1.15)),
        texture=look.texture,
        period=look.period * draws.uniform(0.7, 1.3),
        offset=(draws.uniform(0, 8), draws.uniform(0, 8)),
    )


def jitter(draws: Draws, colour: Colour, spread: float, gain: float) -> Colour:
    """A colour near the given one, times ``gain``, within 0 to 255."""
    red, green, blue = (
        min(max(gain * value + draws.uniform(-spread, spread), 0.0), 255.0) for value in colour
    )
    return red, green, blue


def _decal(canvas: Canvas, draws: Draws, stage: Stage, on_wall: bool) -> None:
    """A poster on the back wall, a rug on the ground, or a patch of light or shade on either."""
    half, deep = draws.uniform(0.3, 1.2), draws.uniform(0.2, 0.9)
    cos, sin = draws.turn(0.08 if on_wall else 0.4)
    flat = rectangle(-half, -deep, half, deep)
    x = cos * flat[:, 0] - sin * flat[:, 1] + draws.uniform(-2, 2)
    along = sin * flat[:, 0] + cos * flat[:, 1]
    if on_wall:
        y = along - draws.uniform(0.0, 0.8)
        corners = np.column_stack([x, y, stage.far - stage.slant * x])
    else:
        z = along + draws.uniform(2.0, 0.8 * stage.far)
        corners = np.column_stack([x, np.full(4, stage.below), z])
    look, lighting = draws.choice(FLOORS + WALLS), draws.choice((0.7, 1.25))
    if draws.chance(0.35):
        _relight(canvas, corners, int(on_wall), np.float32(lighting))
    else:
        paint_face(canvas, [corners / float(ON_TOP)], _material(draws, look), stage.light)


def _relight(canvas: Canvas, corners: Points, material: int, factor: np.float32) -> None:
    """Changes the light on what lies within the corners and is of one material."""
    if corners[:, 2].min() < NEAREST:
        return
    outline = canvas.project(corners)
    window = window_of(outline, canvas.shape)
    if window is None:
        return
    lit = fill([outline], window) & (canvas.material[window] == material)
    shading = canvas.shading[window]
    np.multiply(shading, factor, out=shading, where=lit)


def wall_depth(canvas: Canvas, ray: float) -> float:
    """Metres to the stage at the height of the horizon, in the direction (ray, 0, 1)."""
    column = int(ray * canvas.focal + canvas.shape[1] / 2)
    row = int(canvas.horizon)
    return 1.0 / float(canvas.inverse_depth[row, min(max(column, 0), canvas.shape[1] - 1)])


def cast_shadow(canvas: Canvas, stage: Stage, x: float, z: float, radius: float) -> None:
    """A soft shadow on the ground at (x, z), drawn out away from the light."""
    lx, ly, lz = stage.light
    length = 1.3 * radius
    sx, sz = x + length * lx / ly, z + length * lz / ly
    reach = 1.5 * radius
    near = max(sz - reach, NEAREST)
    corners = np.array(
        [(sx + side * reach, stage.below, at) for side in (-1, 1) for at in (near, sz + reach)]
    )
    window = window_of(canvas.project(corners), canvas.shape)
    if window is None:
        return
    ray_x, ray_y = canvas.rays(window)
    depth = 1 / canvas.inverse_depth[window]
    dx, dz = ray_x * depth - np.float32(sx), depth - np.float32(sz)
    distance = (dx * dx + dz * dz) * np.float32(1 / (2.2 * radius * radius))
    on_ground = np.abs(ray_y * depth - np.float32(stage.below)) < np.float32(0.01)
    dark = np.minimum(np.float32(0.5) + np.float32(0.5) * (distance * distance), 1)
    shading = canvas.shading[window]
    np.multiply(shading, dark, out=shading, where=on_ground)


def light_up(canvas: Canvas, draws: Draws) -> None:
    """Exposure, and a fall-off of light across the image: shading that follows no object."""
    across, down = draws.uniform(-0.25, 0.25), draws.uniform(-0.2, 0.2)
    level = np.float32(draws.uniform(0.8, 1.15))
    canvas.shading *= level + np.float32(across) * canvas.x
    canvas.shading *= 1 + np.float32(down) * canvas.y
