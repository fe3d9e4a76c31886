"""What stands behind the objects: a room or an open place, with decals and shadows on it.

The stage is convex as seen from the camera, so that its inverse depth is the largest of its
surfaces'. Rugs, posters and patches of light lie on it: strong colour edges without a depth edge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pacbench.data.draws import Draws
from pacbench.data.scenes import kinds
from pacbench.data.scenes.canvas import Canvas, Colour, Material
from pacbench.data.scenes.surfaces import Light
from pacbench.data.scenes.textures import Field2d

FLOORS: tuple[tuple[Colour, str, float], ...] = (
    (kinds.WOOD, "grain", 0.7), (kinds.SAND, "checks", 0.8), (kinds.GREY, "noise", 1.5),
    (kinds.GREEN, "patches", 1.2), (kinds.BROWN, "grain", 0.9), (kinds.GREY, "checks", 0.9),
    (kinds.WHITE, "bricks", 1.1), (kinds.LEAF, "noise", 1.0),
)  # fmt: skip
WALLS: tuple[tuple[Colour, str, float], ...] = (
    (kinds.SAND, "noise", 3.0), (kinds.WHITE, "noise", 2.5), (kinds.TEAL, "stripes", 0.6),
    (kinds.BRICK, "bricks", 0.5), (kinds.GREY, "noise", 2.0), (kinds.YELLOW, "spots", 0.5),
    (kinds.WOOD, "grain", 0.8), (kinds.BLUE, "ramp", 6.0),
)  # fmt: skip
SKY = (150, 184, 226)


@dataclass(frozen=True)
class Stage:
    """Where objects can stand, and in what light.

    Attributes:
        below: height of the camera above the ground, metres.
        far: depth of the back wall, metres.
        light: unit vector towards the light.
        colours: main colours of the stage, for objects that are hard to tell from it.
    """

    below: float
    far: float
    light: Light
    colours: tuple[Colour, ...]


def build_stage(canvas: Canvas, draws: Draws) -> Stage:
    """Paints ground, walls or sky, and decals, all of class 0."""
    below, far = draws.uniform(1.1, 1.7), draws.uniform(5.0, 9.5)
    (lx, lz), lift = draws.turn(0.9), draws.uniform(0.6, 1.4)
    side, up, front = lz, -lift, -abs(lx)
    length = (side * side + up * up + front * front) ** 0.5
    light = (side / length, up / length, front / length)

    floor, wall = draws.choice(FLOORS), draws.choice(WALLS)
    if draws.chance(0.6):
        _room(canvas, draws, below, far, floor, wall)
    else:
        _open_place(canvas, draws, below, far, floor)
    for _ in range(draws.between(1, 5)):
        _decal(canvas, draws, below, far)
    return Stage(below, far, light, (floor[0], wall[0]))


def _room(
    canvas: Canvas,
    draws: Draws,
    below: float,
    far: float,
    floor: tuple[Colour, str, float],
    wall: tuple[Colour, str, float],
) -> None:
    x, y = canvas.x, canvas.y
    slant = np.float32(draws.uniform(-0.35, 0.35))
    left, right = draws.uniform(1.8, 4.5), draws.uniform(1.8, 4.5)
    ceiling = draws.uniform(1.2, 2.5)
    _surface(canvas, draws, y / np.float32(below) + 0 * x, "xz", 1.0, floor)
    _surface(canvas, draws, (1 + slant * x) / np.float32(far) + 0 * y, "xy", 0.85, wall)
    _surface(canvas, draws, x / np.float32(right) + 0 * y, "zy", 0.7, wall)
    _surface(canvas, draws, -x / np.float32(left) + 0 * y, "zy", 0.78, wall)
    white = (kinds.WHITE, "noise", 3.0)
    _surface(canvas, draws, -y / np.float32(ceiling) + 0 * x, "xz", 0.9, white)


def _open_place(
    canvas: Canvas, draws: Draws, below: float, far: float, floor: tuple[Colour, str, float]
) -> None:
    """Ground, a low wall or hedge in the distance, and a round horizon with sky and hills."""
    x, y = canvas.x, canvas.y
    _surface(canvas, draws, y / np.float32(below) + 0 * x, "xz", 1.0, floor)
    round_wall = np.sqrt(1 + x * x) / np.float32(far)
    _surface(canvas, draws, round_wall + 0 * y, "xy", 1.0, (SKY, "noise", 9.0))
    # Hills are painted on the sky: an edge of colour, none of depth.
    line = np.float32(draws.uniform(-0.25, 0.05)) + np.float32(draws.uniform(-0.3, 0.3)) * x
    ridge = line - np.float32(draws.uniform(0.0, 0.6)) * x * x
    hill = _material(draws, (draws.choice((kinds.LEAF, kinds.GREY, kinds.TEAL)), "noise", 2.0))
    window = (slice(0, canvas.shape[0]), slice(0, canvas.shape[1]))
    inverse = round_wall * np.float32(1.001) + 0 * y
    inside = y > ridge
    depth = 1 / inverse
    canvas.paint(window, inverse, inside, (x * depth, y * depth), np.float32(0.9), hill)


def _surface(
    canvas: Canvas,
    draws: Draws,
    inverse: Field2d,
    axes: str,
    shading: float,
    look: tuple[Colour, str, float],
) -> None:
    window = (slice(0, canvas.shape[0]), slice(0, canvas.shape[1]))
    depth = 1 / np.maximum(inverse, np.float32(1e-3))
    point = {"x": canvas.x * depth, "y": canvas.y * depth, "z": depth}
    surface = (point[axes[0]], point[axes[1]])
    material = _material(draws, look)
    canvas.paint(window, inverse, inverse > 0, surface, np.float32(shading), material)


def _material(draws: Draws, look: tuple[Colour, str, float]) -> Material:
    colour, texture, period = look
    return Material(
        low=jitter(draws, colour, 18, draws.uniform(0.7, 0.95)),
        high=jitter(draws, colour, 18, draws.uniform(0.95, 1.15)),
        texture=texture,
        period=period * draws.uniform(0.7, 1.3),
        offset=(draws.uniform(0, 8), draws.uniform(0, 8)),
    )


def jitter(draws: Draws, colour: Colour, spread: float, gain: float) -> Colour:
    """A colour near the given one, times ``gain``, within 0 to 255."""
    red, green, blue = (
        min(max(gain * value + draws.uniform(-spread, spread), 0.0), 255.0) for value in colour
    )
    return red, green, blue


def _decal(canvas: Canvas, draws: Draws, below: float, far: float) -> None:
    """A rug on the ground, or a poster on the back wall, or a patch of light on either."""
    look = draws.choice(FLOORS + WALLS)
    x, z = draws.uniform(-2, 2), draws.uniform(2.0, 0.8 * far)
    half, deep = draws.uniform(0.3, 1.2), draws.uniform(0.2, 0.9)
    cos, sin = draws.turn(0.4)
    ground = draws.chance(0.6)
    depth = 1 / canvas.inverse_depth
    # In the plane of the decal: across and along, from its centre.
    a = canvas.x * depth - np.float32(x)
    b = depth - np.float32(z) if ground else canvas.y * depth + np.float32(draws.uniform(0, 0.8))
    u, v = a * np.float32(cos) + b * np.float32(sin), b * np.float32(cos) - a * np.float32(sin)
    inside = (np.abs(u) < np.float32(half)) & (np.abs(v) < np.float32(deep))
    inside &= (canvas.material == 0) == ground
    if draws.chance(0.35):
        canvas.shading[inside] *= np.float32(draws.choice((0.7, 1.25)))
        return
    window = (slice(0, canvas.shape[0]), slice(0, canvas.shape[1]))
    inverse = canvas.inverse_depth * np.float32(1.0001)
    canvas.paint(window, inverse, inside, (u, v), canvas.shading, _material(draws, look))


def cast_shadow(canvas: Canvas, stage: Stage, x: float, z: float, radius: float) -> None:
    """A soft shadow on the ground at (x, z), drawn out away from the light."""
    lx, ly, lz = stage.light
    length = 1.3 * radius
    sx, sz = x + length * lx / ly, z + length * lz / ly
    depth = 1 / canvas.inverse_depth
    dx, dz = canvas.x * depth - np.float32(sx), depth - np.float32(sz)
    distance = (dx * dx + dz * dz) * np.float32(1 / (2.2 * radius * radius))
    on_ground = np.abs(canvas.y * depth - np.float32(stage.below)) < np.float32(0.01)
    dark = np.minimum(np.float32(0.5) + np.float32(0.5) * distance * distance, 1)
    np.multiply(canvas.shading, dark, out=canvas.shading, where=on_ground)
