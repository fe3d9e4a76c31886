"""SD filter: smooth where both the image (static guidance) and the result itself (dynamic) are.

Ham, Cho & Ponce minimise, over the 8-neighbours ij,

    E(u) = Σ_s (u_s − f_s)² + λ Σ_{ij} exp(−μ |I_i − I_j|²) ψ(u_i − u_j)

with ψ(x) = (1 − exp(−ν x²)) / ν, which is not convex. ψ lies under the parabola that touches it at
the present u, so each step solves the linear system of weights

    exp(−μ |I_i − I_j|²) exp(−ν |u_i − u_j|²)

and none raises E. The first u is the grown map; each solution is where the solver starts on the
next.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pacbench.baselines.upsampling.arrays import ArrayMethod, within_range
from pacbench.baselines.upsampling.base import UpsampleParams
from pacbench.baselines.upsampling.pixel_graph import (
    EIGHT_NEIGHBOURS,
    SampledMap,
    similarity,
    squared_differences,
)
from pacbench.baselines.upsampling.sampling import grow
from pacbench.method import MethodInfo, methods

Array = NDArray[np.float32]


class SDFilterParams(UpsampleParams):
    smoothness: float = Field(0.001, gt=0, description="λ, weight of smoothness")
    mu: float = Field(200.0, gt=0, description="μ, how fast smoothness ends with image contrast")
    nu: float = Field(3.0, gt=0, description="ν, how fast it ends with steps of the output")
    steps: int = Field(10, ge=1, description="majorise-minimise steps")


def sd_filter(
    low: Array, guide: Array, factor: int, offset: float, params: SDFilterParams
) -> Array:
    """(C, h, w) and (3, h m, w m) in [0, 1] to (C, h m, w m), edges common to all channels."""
    samples = SampledMap(low, factor, offset)
    static = [params.mu * squared_differences(guide, step) for step in EIGHT_NEIGHBOURS]
    output = grow(low, factor, offset)
    for _ in range(params.steps):
        weights = [
            params.smoothness * similarity(exponent + params.nu * squared_differences(output, step))
            for exponent, step in zip(static, EIGHT_NEIGHBOURS, strict=True)
        ]
        before, output = output, samples.smoothest(output, weights, EIGHT_NEIGHBOURS)
        if np.array_equal(before, output):
            break  # so would all further steps leave it
    return output


@methods.register("sdf")
class SDFilter(ArrayMethod):
    info = MethodInfo(
        title="SDF",
        paper="Ham, Cho & Ponce, Robust image filtering using joint static and dynamic guidance",
        year=2015,
        task="upsample",
        learnable=False,
        backends=("scipy",),
    )
    Params = SDFilterParams

    def filter(self, low: Array, guide: Array) -> Array:
        output = sd_filter(low, guide, self.factor, self.offset, self.params)
        return within_range(output, low)
