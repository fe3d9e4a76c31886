"""Random numbers that are the same on every platform and with every numpy.

``numpy.random.Generator`` may change its streams between releases; the raw 64-bit stream of PCG64
may not (NEP 19). Everything here is made of that stream with integer arithmetic and IEEE basic
operations, which round alike everywhere, unlike sin, exp or a sum in a machine's favourite order.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")


def key_of(*words: object) -> int:
    """A 64-bit seed from words, for what has a name instead of a number."""
    text = "\x1f".join(str(word) for word in words)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


class Draws:
    """A seeded stream of draws; the same key gives the same stream.

    Args:
        key: non-negative integers, of any size.
    """

    def __init__(self, *key: int) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence(key))

    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        """A number in [low, high)."""
        unit = (int(self._bits.random_raw()) >> 11) * 2.0**-53
        return low + (high - low) * unit

    def below(self, stop: int) -> int:
        """An integer in [0, stop), for a ``stop`` under 2**32."""
        return ((int(self._bits.random_raw()) >> 32) * stop) >> 32

    def between(self, first: int, last: int) -> int:
        """An integer in [first, last]."""
        return first + self.below(last - first + 1)

    def chance(self, probability: float) -> bool:
        return self.uniform() < probability

    def choice(self, things: Sequence[T]) -> T:
        return things[self.below(len(things))]

    def weighted(self, weights: Sequence[int]) -> int:
        """An index, drawn in proportion to integer weights."""
        rest = self.below(sum(weights))
        for index, weight in enumerate(weights):
            rest -= weight
            if rest < 0:
                return index
        raise AssertionError("the weights sum to more than was drawn from")

    def turn(self, most: float = 1.0) -> tuple[float, float]:
        """(cos, sin) of an angle whose half-angle tangent is in [-most, most): 1 is ±90 degrees.

        The rational parametrisation of the circle needs no trigonometric function.
        """
        t = self.uniform(-most, most)
        scale = 1.0 / (1.0 + t * t)
        return (1.0 - t * t) * scale, 2.0 * t * scale

    def direction(self) -> tuple[float, float]:
        """A unit vector in any direction of the plane."""
        cos, sin = self.turn()
        return (cos, sin) if self.chance(0.5) else (-cos, -sin)

    def bytes(self, count: int) -> NDArray[np.uint8]:
        """(count,) uniform bytes."""
        words = np.asarray(self._bits.random_raw(math.ceil(count / 8)), dtype="<u8")
        return words.view(np.uint8)[:count]

    def units(self, count: int) -> NDArray[np.float32]:
        """(count,) float32 in [0, 1), of 24 bits each."""
        words = np.asarray(self._bits.random_raw(count), dtype=np.uint64) >> np.uint64(40)
        return words.astype(np.float32) * np.float32(2.0**-24)

    def bell(self, count: int) -> NDArray[np.float32]:
        """(count,) float32 of mean 0 and variance 1, nearly normal: sums of four bytes."""
        quads = self.bytes(4 * count).reshape(count, 4)
        total = quads[:, 0].astype(np.int16)
        for column in range(1, 4):
            total += quads[:, column]
        # A byte has mean 127.5 and variance (256**2 - 1) / 12.
        scale = np.float32(1.0 / math.sqrt(4 * (256**2 - 1) / 12))
        return (total.astype(np.float32) - np.float32(510)) * scale
