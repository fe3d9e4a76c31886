"""The unaries alone: what every CRF has to improve on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacbench.data.base import Sample
from pacbench.method import Context, Method, MethodInfo, MethodParams, methods
from pacbench.tasks.crf import crf_inputs


@methods.register("unary")
class Unary(Method):
    info = MethodInfo(
        title="Unaries only",
        paper="no CRF",
        year=2015,
        task="crf",
        learnable=False,
        backends=("none",),
    )
    Params = MethodParams

    def __init__(self, params: MethodParams, context: Context) -> None:
        pass

    def prepare(self, sample: Sample) -> NDArray[np.float32]:
        return crf_inputs(sample)[1]

    def run(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        return inputs

    def finish(self, output: NDArray[np.float32]) -> NDArray[np.float32]:
        return output
