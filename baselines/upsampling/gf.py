"""Guided filter: in every window the output is the linear function of the image that fits best.

    u_i = ā_i · I_i + b̄_i,   (a_k, b_k) = argmin Σ_{i∈ω_k} [(a·I_i + b − p_i)² + ε |a|²]

of the linearly grown map p, with ā and b̄ the means over the windows around i. OpenCV computes it,
from a colour guide in float32 as He et al. do; it differs from their text at the image's border
only, where it mirrors the image instead of averaging over the part of a window that is inside. The
linear functions may leave the input's range, and are left to.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pacbench.baselines.upsampling.arrays import ArrayMethod
from pacbench.baselines.upsampling.base import UpsampleParams
from pacbench.baselines.upsampling.sampling import grow
from pacbench.method import Context, MethodInfo, methods

Array = NDArray[np.float32]


LEVELS = 255
"""OpenCV sets a to 0 where a window's covariance has a small determinant, whatever the unit: for a
guide in [0, 1] nearly everywhere, in grey levels nowhere."""


class GuidedFilterParams(UpsampleParams):
    radius: float = Field(0.5, gt=0, description="of the windows, in low-resolution pixels")
    epsilon: float = Field(
        0.01,
        ge=1e-4,
        description="ε, in squares of the guide's range; OpenCV is not precise enough for less",
    )


def guided_filter(maps: Array, guide: Array, radius: int, epsilon: float) -> Array:
    """(C, H, W) maps filtered with a (3, H, W) guide in windows of 2 ``radius`` + 1 pixels."""
    image = np.ascontiguousarray(LEVELS * guide.transpose(1, 2, 0))
    stacked = np.ascontiguousarray(maps.transpose(1, 2, 0))
    filtered = cv2.ximgproc.guidedFilter(image, stacked, radius, LEVELS**2 * epsilon)
    return np.ascontiguousarray(filtered.reshape(stacked.shape).transpose(2, 0, 1))


@methods.register("gf")
class GuidedFilter(ArrayMethod):
    info = MethodInfo(
        title="GF",
        paper="He, Sun & Tang, Guided image filtering",
        year=2013,
        task="upsample",
        learnable=False,
        backends=("opencv",),
    )
    Params = GuidedFilterParams

    def __init__(self, params: GuidedFilterParams, context: Context) -> None:
        super().__init__(params, context)
        cv2.setNumThreads(context.threads)

    def filter(self, low: Array, guide: Array) -> Array:
        radius = max(1, round(self.params.radius * self.factor))
        return guided_filter(
            grow(low, self.factor, self.offset), guide, radius, self.params.epsilon
        )
