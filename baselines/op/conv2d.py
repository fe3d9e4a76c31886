"""The convolution of torch, which PAC adapts: the yardstick of arithmetic on windows."""

from __future__ import annotations

import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from pacbench.data.base import Sample
from pacbench.method import Context, MethodParams, methods
from pacbench.tasks.op import FLOAT_BYTES, OpMethod, features_of, op_info, weights
from pacbench.timing.cost import Cost


class Conv2dParams(MethodParams):
    out_channels: int = Field(16, ge=1)
    kernel_size: int = Field(5, ge=1, description="taps of the window in each direction, odd")
    dilation: int = Field(1, ge=1)


@methods.register("conv2d")
class Conv2d(OpMethod):
    info = op_info("conv2d", paper="torch", year=2016, backends=("torch",))
    Params = Conv2dParams

    def __init__(self, params: Conv2dParams, context: Context) -> None:
        self.params, self.device = params, context.device
        channels = features_of(context.example, "cpu").shape[1]
        size = params.kernel_size
        self.weight = weights(params.out_channels, channels, size, size, device=self.device)

    def prepare(self, sample: Sample) -> Tensor:
        return features_of(sample, self.device)

    def run(self, inputs: Tensor) -> Tensor:
        p = self.params
        padding = p.dilation * (p.kernel_size // 2)
        return F.conv2d(inputs, self.weight, padding=padding, dilation=p.dilation)

    def cost(self, inputs: Tensor) -> Cost:
        _, channels, height, width = inputs.shape
        p, pixels = self.params, height * width
        moved = (channels + p.out_channels) * pixels + self.weight.numel()
        return Cost(
            flops=2.0 * p.out_channels * channels * p.kernel_size**2 * pixels,
            bytes=FLOAT_BYTES * moved,
        )
