"""Full-CRF: dense pairwise connections by permutohedral filtering, as pydensecrf computes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from pydensecrf import densecrf

from pacbench.data.base import Sample
from pacbench.method import Context, Method, MethodInfo, MethodParams, methods
from pacbench.tasks.crf import crf_inputs

Array = NDArray[np.float32]


class FullCRFParams(MethodParams):
    """The names are the paper's: K = w1·appearance(θα, θβ) + w2·smoothness(θγ)."""

    steps: int = Field(5, ge=1, description="mean-field steps")
    w1: float = Field(4.0, ge=0, description="weight of the appearance kernel")
    w2: float = Field(3.0, ge=0, description="weight of the smoothness kernel")
    theta_alpha: float = Field(49.0, gt=0, description="appearance kernel, pixels")
    theta_beta: float = Field(5.0, gt=0, description="appearance kernel, RGB levels")
    theta_gamma: float = Field(3.0, gt=0, description="smoothness kernel, pixels")


@dataclass(frozen=True)
class Inputs:
    """``energy`` is (L, H·W), the negative log of the unaries; ``image`` is (H, W, 3)."""

    energy: Array
    image: NDArray[np.uint8]


@methods.register("full_crf")
class FullCRF(Method):
    info = MethodInfo(
        title="Full-CRF",
        paper="Krähenbühl & Koltun, Efficient inference in fully connected CRFs",
        year=2011,
        task="crf",
        learnable=False,
        backends=("pydensecrf",),
        note="parameters are pydensecrf's customary ones, not searched for on this data",
    )
    Params = FullCRFParams

    def __init__(self, params: FullCRFParams, context: Context) -> None:
        self.params = params

    def prepare(self, sample: Sample) -> Inputs:
        image, unary = crf_inputs(sample)
        shifted = unary - unary.max(axis=0, keepdims=True)
        log_probability = shifted - np.log(np.exp(shifted).sum(axis=0, keepdims=True))
        return Inputs(
            energy=np.ascontiguousarray(-log_probability.reshape(len(unary), -1)),
            image=np.ascontiguousarray(image.transpose(1, 2, 0)),
        )

    def run(self, inputs: Inputs) -> Array:
        """Set-up of both lattices and all mean-field steps; marginals (L, H, W)."""
        height, width, _ = inputs.image.shape
        marginals = np.asarray(self._set_up(inputs).inference(self.params.steps))
        return marginals.reshape(-1, height, width)

    def stages(self, inputs: Inputs) -> Iterator[str]:
        crf = self._set_up(inputs)
        marginals, scratch, norm = crf.startInference()
        yield "set-up"
        for _ in range(self.params.steps):
            crf.stepInference(marginals, scratch, norm)
            yield "step"

    def finish(self, output: Array) -> Array:
        return output

    def _set_up(self, inputs: Inputs) -> densecrf.DenseCRF2D:
        p, (height, width, _) = self.params, inputs.image.shape
        crf = densecrf.DenseCRF2D(width, height, len(inputs.energy))
        crf.setUnaryEnergy(inputs.energy)
        crf.addPairwiseGaussian(sxy=p.theta_gamma, compat=p.w2)
        crf.addPairwiseBilateral(
            sxy=p.theta_alpha, srgb=p.theta_beta, rgbim=inputs.image, compat=p.w1
        )
        return crf
