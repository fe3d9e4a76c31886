"""A z-buffer that remembers which material each pixel shows, and colours them all at the end.

Camera coordinates: X right, Y down, Z forward, in metres; a pixel's ray is (x, y, 1), so a point
on it at depth z is (x z, y z, z). Larger inverse depth is nearer and wins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacbench.data.scenes.raster import Window
from pacbench.data.scenes.textures import TEXTURES, Field2d, noise

Colour = tuple[float, float, float]


@dataclass(frozen=True)
class Material:
    """What a surface looks like and belongs to.

    Attributes:
        low, high: RGB (0 to 255) where the texture is 0 and 1.
        texture: a name of ``TEXTURES``.
        period: metres after which the texture repeats.
        offset: moves the texture, in periods, so that no two surfaces show the same piece.
        label: class of its pixels.
        instance: number of its object; 0 is the stage.
    """

    low: Colour
    high: Colour
    texture: str
    period: float
    offset: tuple[float, float]
    label: int = 0
    instance: int = 0


class Canvas:
    """Buffers of one image, (H, W) each: inverse depth, material, texture value, shading."""

    def __init__(self, shape: tuple[int, int], focal: float, horizon: float) -> None:
        self.shape = shape
        self.focal = focal
        self.horizon = horizon
        height, width = shape
        self.x = ((np.arange(width) + 0.5 - width / 2) / focal).astype(np.float32)[None, :]
        self.y = ((np.arange(height) + 0.5 - horizon) / focal).astype(np.float32)[:, None]
        self.inverse_depth = np.zeros(shape, dtype=np.float32)
        self.material = np.zeros(shape, dtype=np.intp)
        self.pattern = np.zeros(shape, dtype=np.float32)
        self.shading = np.ones(shape, dtype=np.float32)
        self.materials: list[Material] = []

    def project(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, 3) camera coordinates to (n, 2) pixels (x, y)."""
        centre = np.array([self.shape[1] / 2, self.horizon])
        pixels: NDArray[np.float64] = points[:, :2] * (self.focal / points[:, 2:]) + centre
        return pixels

    def rays(self, window: Window) -> tuple[Field2d, Field2d]:
        """x as (1, w) and y as (h, 1) of a window's rays."""
        return self.x[:, window[1]], self.y[window[0]]

    def paint(
        self,
        window: Window,
        inverse_depth: Field2d,
        inside: NDArray[np.bool_],
        surface: tuple[Field2d, Field2d],
        shading: Field2d | np.float32,
        material: Material,
    ) -> None:
        """Draws a surface where it is inside its outline and nearer than what is there.

        Args:
            surface: the texture's coordinates (u, v) in metres.
            shading: brightness factor, 1 for a surface that faces the light.
        """
        seen = inside & (inverse_depth > self.inverse_depth[window])
        if not seen.any():
            return
        scale = np.float32(1.0 / material.period)
        u = surface[0] * scale + np.float32(material.offset[0])
        v = surface[1] * scale + np.float32(material.offset[1])
        # A little noise on every surface: nothing real is of one flat colour.
        pattern = np.float32(0.8) * TEXTURES[material.texture](u, v) + np.float32(0.2) * noise(v, u)
        np.copyto(self.inverse_depth[window], inverse_depth, where=seen)
        np.copyto(self.material[window], len(self.materials), where=seen)
        np.copyto(self.pattern[window], pattern, where=seen)
        np.copyto(self.shading[window], shading, where=seen)
        self.materials.append(material)

    def colours(self) -> NDArray[np.float32]:
        """(3, H, W) RGB, 0 to 255."""
        low = np.array([m.low for m in self.materials], dtype=np.float32)
        span = np.array([m.high for m in self.materials], dtype=np.float32) - low
        image = np.empty((3, *self.shape), dtype=np.float32)
        for channel in range(3):
            plane = image[channel]
            np.take(span[:, channel], self.material, out=plane, mode="clip")
            plane *= self.pattern
            plane += low[:, channel].take(self.material, mode="clip")
            plane *= self.shading
        return np.clip(image, 0, 255, out=image)

    def labels(self) -> NDArray[np.uint8]:
        """(H, W) class of each pixel."""
        return np.array([m.label for m in self.materials], dtype=np.uint8).take(self.material)

    def instances(self) -> NDArray[np.intp]:
        """(H, W) number of each pixel's object, 0 for the stage."""
        return np.array([m.instance for m in self.materials], dtype=np.intp).take(self.material)
