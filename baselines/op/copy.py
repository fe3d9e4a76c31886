"""A copy in memory: the yardstick of bandwidth."""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor

from pacbench.data.base import Sample
from pacbench.method import Context, MethodParams, methods
from pacbench.tasks.op import FLOAT_BYTES, OpMethod, op_info
from pacbench.timing.cost import Cost


class CopyParams(MethodParams):
    megabytes: int = Field(4, ge=1, description="copied by each call")


@methods.register("memory_copy")
class MemoryCopy(OpMethod):
    info = op_info("memory copy", paper="torch", year=2016, backends=("torch",))
    Params = CopyParams

    def __init__(self, params: CopyParams, context: Context) -> None:
        self.count, self.device = params.megabytes * 2**20 // FLOAT_BYTES, context.device

    def prepare(self, sample: Sample) -> tuple[Tensor, Tensor]:
        source = torch.ones(self.count, device=self.device)
        return source, torch.zeros_like(source)

    def run(self, inputs: tuple[Tensor, Tensor]) -> Tensor:
        source, target = inputs
        return target.copy_(source)

    def cost(self, inputs: tuple[Tensor, Tensor]) -> Cost:
        return Cost(flops=0.0, bytes=2.0 * FLOAT_BYTES * self.count)
