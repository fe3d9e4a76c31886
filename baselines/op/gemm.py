"""A matrix product: the yardstick of arithmetic."""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor

from pacbench.data.base import Sample
from pacbench.method import Context, MethodParams, methods
from pacbench.tasks.op import FLOAT_BYTES, OpMethod, op_info, weights
from pacbench.timing.cost import Cost


class GemmParams(MethodParams):
    side: int = Field(256, ge=1, description="rows and columns of both matrices")


@methods.register("gemm")
class Gemm(OpMethod):
    info = op_info("GEMM", paper="torch", year=2016, backends=("torch",))
    Params = GemmParams

    def __init__(self, params: GemmParams, context: Context) -> None:
        self.side, self.device = params.side, context.device

    def prepare(self, sample: Sample) -> tuple[Tensor, Tensor]:
        left = weights(self.side, self.side, device=self.device)
        return left, weights(self.side, self.side, device=self.device)

    def run(self, inputs: tuple[Tensor, Tensor]) -> Tensor:
        return torch.mm(*inputs)

    def cost(self, inputs: tuple[Tensor, Tensor]) -> Cost:
        return Cost(flops=2.0 * self.side**3, bytes=3.0 * FLOAT_BYTES * self.side**2)
