"""What a camera does to a picture: blur, noise and the artefacts of JPEG."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pacbench.data.draws import Draws
from pacbench.data.scenes.jpeg import jpeg_losses

Image = NDArray[np.float32]
"""(3, H, W) RGB, 0 to 255."""


def photograph(
    colours: Image, draws: Draws, blur: float, noise: float, jpeg: int | None
) -> NDArray[np.uint8]:
    """(3, H, W) uint8: blurred, noisy and compressed, in the order a camera does it."""
    image = noisy(blurred(colours, blur), noise, draws)
    if jpeg is not None:
        image = jpeg_losses(np.clip(image, 0, 255), jpeg)
    rounded: Image = np.clip(image + np.float32(0.5), 0, 255)
    return rounded.astype(np.uint8)


def blurred(image: Image, sigma: float) -> Image:
    """Gaussian blur of ``sigma`` pixels as repeated three-tap filters, edges repeated."""
    if sigma == 0:
        return image
    passes = math.ceil(2 * sigma * sigma)
    side = np.float32(sigma * sigma / (2 * passes))  # the filter (a, 1 - 2a, a) has variance 2a
    for _ in range(passes):
        for axis in (1, 2):
            image = _three_taps(image, side, axis)
    return image


def _three_taps(image: Image, side: np.float32, axis: int) -> Image:
    first, last = [slice(None)] * 3, [slice(None)] * 3
    first[axis], last[axis] = slice(0, 1), slice(-1, None)
    difference = np.diff(image, axis=axis, prepend=image[tuple(first)], append=image[tuple(last)])
    difference *= side
    return image + np.diff(difference, axis=axis)


def noisy(image: Image, sigma: float, draws: Draws) -> Image:
    """Adds nearly normal noise of ``sigma`` grey levels, independent per pixel and channel."""
    if sigma == 0:
        return image
    return image + np.float32(sigma) * draws.bell(image.size).reshape(image.shape)
