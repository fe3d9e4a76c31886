"""Puts parts of an object, given in its own frame, onto the canvas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacbench.data.scenes.canvas import Canvas, Material
from pacbench.data.scenes.surfaces import (
    Light,
    Points,
    paint_cone,
    paint_ellipsoid,
    paint_face,
)

Shape = NDArray[np.float64]
"""(n, 2) outline in metres: x to the right, y up from the ground."""


def _circle(quarter: int) -> Shape:
    """(4 * quarter, 2) points of the unit circle, for a power of two.

    Made by halving angles, with square roots alone: libm's cosines may differ in the last bit.
    """
    cos, sin = 0.0, 1.0
    for _ in range(quarter.bit_length() - 1):
        sin, cos = math.sqrt((1.0 - cos) / 2), math.sqrt((1.0 + cos) / 2)
    points = [(1.0, 0.0)]
    for _ in range(4 * quarter - 1):
        x, y = points[-1]
        points.append((cos * x - sin * y, sin * x + cos * y))
    return np.array(points)


CIRCLE = _circle(8)
"""(32, 2) points of the unit circle."""


def rectangle(left: float, bottom: float, right: float, top: float) -> Shape:
    return np.array([(left, bottom), (right, bottom), (right, top), (left, top)])


def disc(x: float, y: float, radius: float) -> Shape:
    outline: Shape = CIRCLE * radius + np.array([x, y])
    return outline


@dataclass(frozen=True)
class Pose:
    """Where an object stands: on the ground ``below`` metres under the camera, turned by a yaw."""

    x: float
    z: float
    below: float
    cos: float
    sin: float

    def place(self, local: NDArray[np.float64]) -> Points:
        """(n, 3) own coordinates (x right, y up, z away) to camera coordinates."""
        x, y, z = local[:, 0], local[:, 1], local[:, 2]
        return np.column_stack(
            [
                self.x + (self.cos * x - self.sin * z),
                self.below - y,
                self.z + (self.sin * x + self.cos * z),
            ]
        )


class Sculptor:
    """Draws one object.

    Args:
        tints: the object's materials; parts choose one by its number.
        scale: all lengths are multiplied by it.
    """

    def __init__(
        self, canvas: Canvas, light: Light, pose: Pose, tints: Sequence[Material], scale: float
    ) -> None:
        self.canvas = canvas
        self.light = light
        self.pose = pose
        self.tints = tints
        self.scale = scale

    def face(self, *shapes: Shape, z: float = 0.0, lean: float = 0.0, tint: int = 0) -> None:
        """An upright face at ``z`` behind the object's origin; further shapes are holes.

        ``lean`` moves it away by that much per metre of height.
        """
        self._face([np.column_stack([s, z + lean * s[:, 1]]) for s in shapes], tint)

    def slab(self, shape: Shape, y: float, tint: int = 0) -> None:
        """A level face at height ``y``; the shape's second axis is depth."""
        self._face([np.column_stack([shape[:, 0], np.full(len(shape), y), shape[:, 1]])], tint)

    def box(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        z: tuple[float, float],
        tint: int = 0,
    ) -> None:
        """A cuboid, without its underside."""
        side = np.array([(0, y[0], z[0]), (0, y[0], z[1]), (0, y[1], z[1]), (0, y[1], z[0])])
        for depth in z:
            self.face(rectangle(x[0], y[0], x[1], y[1]), z=depth, tint=tint)
        for edge in x:
            self._face([side + np.array([edge, 0.0, 0.0])], tint)
        self.slab(rectangle(x[0], z[0], x[1], z[1]), y[1], tint)

    def prism(
        self,
        a: tuple[float, float],
        b: tuple[float, float],
        z: tuple[float, float],
        tint: int = 0,
    ) -> None:
        """The face swept by the segment from a to b, (x, y) each, between two depths."""
        corners = [(*a, z[0]), (*a, z[1]), (*b, z[1]), (*b, z[0])]
        self._face([np.array(corners)], tint)

    def cone(
        self,
        base: tuple[float, float, float],
        height: float,
        radii: tuple[float, float],
        tint: int = 0,
        closed: bool = False,
    ) -> None:
        """An upright cone or cylinder; ``closed`` gives it a lid."""
        point = self.pose.place(self.scale * np.array([base]))[0]
        scaled = (radii[0] * self.scale, radii[1] * self.scale)
        paint_cone(self.canvas, point, height * self.scale, scaled, self.tints[tint], self.light)
        if closed:
            self.slab(disc(base[0], base[2], radii[1]), base[1] + height, tint)

    def ball(
        self,
        centre: tuple[float, float, float],
        radii: tuple[float, float, float],
        tint: int = 0,
        shapes: Sequence[Shape] = (),
    ) -> None:
        """An ellipsoid, cut to the shapes (an outline and its holes) if there are any."""
        point = self.pose.place(self.scale * np.array([centre]))[0]
        outlines = [
            self.pose.place(self.scale * np.column_stack([s, np.full(len(s), centre[2])]))
            for s in shapes
        ]
        scaled = (radii[0] * self.scale, radii[1] * self.scale, radii[2] * self.scale)
        paint_ellipsoid(self.canvas, point, scaled, self.tints[tint], self.light, outlines)

    def _face(self, outlines: Sequence[NDArray[np.float64]], tint: int) -> None:
        placed = [self.pose.place(self.scale * outline) for outline in outlines]
        paint_face(self.canvas, placed, self.tints[tint], self.light)
