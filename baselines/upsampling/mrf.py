"""MRF: the map that fits the samples and is smooth where the image is.

Diebel & Thrun's energy, quadratic and so minimised to a thousandth of the map's range:

    E(u) = Σ_s (u_s − f_s)² + λ Σ_{ij} exp(−c |I_i − I_j|²) (u_i − u_j)²

with s the sampled pixels and ij the pairs of 4-neighbours. They too solve it by conjugate
gradients; here these start from the linearly grown map and are preconditioned.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pacbench.baselines.upsampling.arrays import ArrayMethod, within_range
from pacbench.baselines.upsampling.base import UpsampleParams
from pacbench.baselines.upsampling.pixel_graph import (
    FOUR_NEIGHBOURS,
    SampledMap,
    similarity,
    squared_differences,
)
from pacbench.baselines.upsampling.sampling import grow
from pacbench.method import MethodInfo, methods

Array = NDArray[np.float32]


class MRFParams(UpsampleParams):
    smoothness: float = Field(0.001, gt=0, description="λ, weight of smoothness")
    c: float = Field(200.0, gt=0, description="how fast smoothness ends with image contrast")


def mrf(low: Array, guide: Array, factor: int, offset: float, smoothness: float, c: float) -> Array:
    """(C, h, w) and (3, h m, w m) in [0, 1] to (C, h m, w m), each channel by itself."""
    weights = [
        smoothness * similarity(c * squared_differences(guide, step)) for step in FOUR_NEIGHBOURS
    ]
    samples = SampledMap(low, factor, offset)
    return samples.smoothest(grow(low, factor, offset), weights, FOUR_NEIGHBOURS)


@methods.register("mrf")
class MRF(ArrayMethod):
    info = MethodInfo(
        title="MRF",
        paper="Diebel & Thrun, An application of Markov random fields to range sensing",
        year=2005,
        task="upsample",
        learnable=False,
        backends=("scipy",),
    )
    Params = MRFParams

    def filter(self, low: Array, guide: Array) -> Array:
        p = self.params
        output = mrf(low, guide, self.factor, self.offset, p.smoothness, p.c)
        return within_range(output, low)
