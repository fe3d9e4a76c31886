"""The PAC operators as methods of their own, for timing them.

Cost is counted by the paper's equations: K takes 3 FLOPs per guide channel (difference, square,
sum) and one exponential at each tap of each pixel, and multiplies each input at each tap once.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from pydantic import Field
from torch import Tensor

from pacbench import kernels
from pacbench.data.base import Sample
from pacbench.method import Context, MethodParams, methods
from pacbench.tasks.op import FLOAT_BYTES, OpMethod, features_of, op_info, weights
from pacbench.timing.cost import Cost


class OperatorParams(MethodParams):
    out_channels: int = Field(16, ge=1)
    kernel_size: int = Field(5, ge=1, description="taps of the window in each direction, odd")
    dilation: int = Field(1, ge=1)


class Inputs(NamedTuple):
    """``input`` (1, C, H, W), ``guide`` (1, 3, H, W) from the image, and K where it is given."""

    input: Tensor
    guide: Tensor
    kernel: Tensor | None = None


class Operator(OpMethod):
    """An operator with a window: features of a sample in, the guide from its image."""

    Params = OperatorParams

    def __init__(self, params: OperatorParams, context: Context) -> None:
        self.params, self.device, self.backend = params, context.device, context.backend
        self.padding = params.dilation * (params.kernel_size // 2)
        self.channels = features_of(context.example, "cpu").shape[1]
        size = params.kernel_size
        self.weight = weights(params.out_channels, self.channels, size, size, device=self.device)

    def prepare(self, sample: Sample) -> Inputs:
        guide = torch.from_numpy(sample.image)[None].to(self.device).float() / 30
        return Inputs(features_of(sample, self.device), guide)

    def _kernel(self, guide: Tensor) -> Tensor:
        p = self.params
        return kernels.adapting_kernel(
            guide, p.kernel_size, 1, self.padding, p.dilation, backend=self.backend
        )

    def _kernel_flops(self, inputs: Inputs) -> float:
        channels, pixels = inputs.guide.shape[1], inputs.guide[0, 0].numel()
        return (3 * channels + 1) * self.params.kernel_size**2 * pixels

    def _conv_flops(self, inputs: Inputs) -> float:
        taps, pixels = self.params.kernel_size**2, inputs.input[0, 0].numel()
        return (1 + 2 * self.params.out_channels) * self.channels * taps * pixels

    def _moved(self, inputs: Inputs, *others: int) -> float:
        return FLOAT_BYTES * (sum(t.numel() for t in inputs if t is not None) + sum(others))


@methods.register("adapting_kernel")
class AdaptingKernel(Operator):
    """K of the image, stored."""

    info = op_info("adapting kernel")

    def run(self, inputs: Inputs) -> Tensor:
        return self._kernel(inputs.guide)

    def cost(self, inputs: Inputs) -> Cost:
        stored = self.params.kernel_size**2 * inputs.guide[0, 0].numel()
        moved = FLOAT_BYTES * (inputs.guide.numel() + stored)
        return Cost(flops=self._kernel_flops(inputs), bytes=moved)


@methods.register("pacconv2d")
class PacConvGivenK(Operator):
    """PAC with K given."""

    info = op_info("PAC, K given")

    def prepare(self, sample: Sample) -> Inputs:
        inputs = super().prepare(sample)
        return inputs._replace(kernel=self._kernel(inputs.guide))

    def run(self, inputs: Inputs) -> Tensor:
        kernel, p = inputs.kernel, self.params
        assert kernel is not None  # noqa: S101, prepared so
        return kernels.pacconv2d(
            inputs.input, kernel, self.weight, None, 1, self.padding, p.dilation,
            backend=self.backend,
        )  # fmt: skip

    def cost(self, inputs: Inputs) -> Cost:
        written = self.params.out_channels * inputs.input[0, 0].numel()
        moved = self._moved(
            inputs._replace(guide=inputs.input[:, :0]), written, self.weight.numel()
        )
        return Cost(flops=self._conv_flops(inputs), bytes=moved)


@methods.register("pac_conv2d")
class PacConv(Operator):
    """PAC with the K of the image, which native never stores."""

    info = op_info("PAC")

    def run(self, inputs: Inputs) -> Tensor:
        return kernels.pac_conv2d(
            inputs.input, inputs.guide, self.weight, None, 1, self.padding, self.params.dilation,
            backend=self.backend,
        )  # fmt: skip

    def cost(self, inputs: Inputs) -> Cost:
        written = self.params.out_channels * inputs.input[0, 0].numel()
        return Cost(
            flops=self._kernel_flops(inputs) + self._conv_flops(inputs),
            bytes=self._moved(inputs, written, self.weight.numel()),
        )


@methods.register("pac_conv2d_training")
class PacConvTraining(PacConv):
    """A step of training: PAC forward, then its gradients by input, guide and weight."""

    info = op_info("PAC, training", learnable=True)

    def __init__(self, params: OperatorParams, context: Context) -> None:
        super().__init__(params, context)
        with torch.inference_mode(mode=False):
            self.weight = self.weight.clone().requires_grad_()

    def prepare(self, sample: Sample) -> Inputs:
        with torch.inference_mode(mode=False):
            features, guide, _ = super().prepare(sample)
            return Inputs(features.clone().requires_grad_(), guide.clone().requires_grad_())

    def run(self, inputs: Inputs) -> Tensor:
        with torch.inference_mode(mode=False), torch.enable_grad():
            output = super().run(inputs)
            by_input, _, _ = torch.autograd.grad(
                output.sum(), (inputs.input, inputs.guide, self.weight)
            )
        return by_input

    def cost(self, inputs: Inputs) -> Cost:
        """Three times the forward pass: one more for the input and one for weight and guide."""
        forward = super().cost(inputs)
        return Cost(flops=3 * forward.flops, bytes=3 * forward.bytes)


@methods.register("pac_conv_transpose2d")
class PacConvTranspose(Operator):
    """Transposed PAC by a factor of two, guided by the image at the output's size."""

    info = op_info("transposed PAC")

    def prepare(self, sample: Sample) -> Inputs:
        features, guide, _ = super().prepare(sample)
        half = features[:, :, ::2, ::2].contiguous()
        return Inputs(half, guide[:, :, : 2 * half.shape[2], : 2 * half.shape[3]].contiguous())

    def run(self, inputs: Inputs) -> Tensor:
        return kernels.pac_conv_transpose2d(
            inputs.input, inputs.guide, self.weight.transpose(0, 1), None, 2, self.padding, 1,
            self.params.dilation, backend=self.backend,
        )  # fmt: skip

    def cost(self, inputs: Inputs) -> Cost:
        written = self.params.out_channels * inputs.guide[0, 0].numel()
        return Cost(
            flops=self._kernel_flops(inputs) + self._conv_flops(inputs),
            bytes=self._moved(inputs, written, self.weight.numel()),
        )


@methods.register("pac_pool2d")
class PacPool(Operator):
    """Adaptive pooling with the K of the image."""

    info = op_info("PAC pooling")

    def run(self, inputs: Inputs) -> Tensor:
        p = self.params
        return kernels.pac_pool2d(
            inputs.input, inputs.guide, p.kernel_size, 1, self.padding, p.dilation,
            backend=self.backend,
        )  # fmt: skip

    def cost(self, inputs: Inputs) -> Cost:
        taps, pixels = self.params.kernel_size**2, inputs.input[0, 0].numel()
        return Cost(
            flops=self._kernel_flops(inputs) + 2.0 * self.channels * taps * pixels,
            bytes=self._moved(inputs, inputs.input.numel()),
        )
