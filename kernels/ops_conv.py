"""PAC with K given, as torch operators: the four derivatives of :mod:`.linear_form`'s S."""
# ruff: noqa: A001, A002, ARG001 - `input` is the torch name; a fake has the arguments of its operator

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from pacbench.kernels import _native, _structs
from pacbench.kernels.arguments import Window
from pacbench.kernels.linear_form import Role, register


def shape_of(
    window: Sequence[int], input_size: Sequence[int], weight: Tensor, kernel_channels: int
) -> _structs.PacShape:
    """What the library is told of an operator on images of size (B, C, H, W)."""
    batch, inputs, height, width = input_size
    taps = Window.from_flat(window)
    out_axis, in_axis = (1, 0) if taps.transposed else (0, 1)
    return _structs.PacShape(
        batch,
        inputs,
        weight.shape[out_axis],
        kernel_channels,
        weight.stride(out_axis),
        weight.stride(in_axis),
        torch.get_num_threads(),
        *_structs.axes(taps, (height, width)),
    )


@_native.operator("conv")
def conv(
    input: Tensor, kernel: Tensor, weight: Tensor, window: Sequence[int], bias: Tensor | None
) -> Tensor:
    input, kernel, weight = input.contiguous(), kernel.contiguous(), weight.contiguous()
    bias = None if bias is None else bias.contiguous()
    output = empty_output(input, weight, window)
    shape = shape_of(window, input.shape, weight, kernel.shape[1])
    _native.call("pac_conv", shape, None, kernel, input, weight, bias, output)
    return output


@_native.operator("conv_grad_input")
def conv_grad_input(
    kernel: Tensor,
    weight: Tensor,
    grad_output: Tensor,
    window: Sequence[int],
    input_size: Sequence[int],
) -> Tensor:
    kernel, weight, grad_output = kernel.contiguous(), weight.contiguous(), grad_output.contiguous()
    grad_input = kernel.new_empty(input_size)
    shape = shape_of(window, input_size, weight, kernel.shape[1])
    _native.call("pac_conv_grad_input", shape, kernel, grad_output, weight, grad_input)
    return grad_input


@_native.operator("conv_grad_kernel")
def conv_grad_kernel(
    input: Tensor,
    weight: Tensor,
    grad_output: Tensor,
    window: Sequence[int],
    kernel_channels: int,
) -> Tensor:
    input, weight, grad_output = input.contiguous(), weight.contiguous(), grad_output.contiguous()
    grad_kernel = _empty_kernel(input, weight, grad_output, kernel_channels)
    shape = shape_of(window, input.shape, weight, kernel_channels)
    _native.call("pac_conv_grad_kernel", shape, input, grad_output, weight, grad_kernel)
    return grad_kernel


@_native.operator("conv_grad_weight")
def conv_grad_weight(
    input: Tensor, kernel: Tensor, grad_output: Tensor, window: Sequence[int]
) -> Tensor:
    input, kernel, grad_output = input.contiguous(), kernel.contiguous(), grad_output.contiguous()
    grad_weight = _empty_weight(input, grad_output, window)
    shape = shape_of(window, input.shape, grad_weight, kernel.shape[1])
    _native.call("pac_conv_grad_weight", shape, input, kernel, grad_output, grad_weight)
    return grad_weight


def empty_output(input: Tensor, weight: Tensor, window: Sequence[int]) -> Tensor:
    taps = Window.from_flat(window)
    channels = weight.shape[1 if taps.transposed else 0]
    return input.new_empty(input.shape[0], channels, *taps.output_size(input.shape[2:]))


def _empty_kernel(input: Tensor, weight: Tensor, output: Tensor, channels: int) -> Tensor:
    return input.new_empty(input.shape[0], channels, *weight.shape[2:], *output.shape[2:])


def _empty_weight(input: Tensor, output: Tensor, window: Sequence[int]) -> Tensor:
    taps = Window.from_flat(window)
    channels = (output.shape[1], input.shape[1])
    if taps.transposed:
        channels = (channels[1], channels[0])
    return input.new_empty(*channels, *taps.kernel_size)


@conv.register_fake
def _(
    input: Tensor, kernel: Tensor, weight: Tensor, window: Sequence[int], bias: Tensor | None
) -> Tensor:
    return empty_output(input, weight, window)


@conv_grad_input.register_fake
def _(
    kernel: Tensor,
    weight: Tensor,
    grad_output: Tensor,
    window: Sequence[int],
    input_size: Sequence[int],
) -> Tensor:
    return kernel.new_empty(input_size)


@conv_grad_kernel.register_fake
def _(
    input: Tensor,
    weight: Tensor,
    grad_output: Tensor,
    window: Sequence[int],
    kernel_channels: int,
) -> Tensor:
    return _empty_kernel(input, weight, grad_output, kernel_channels)


@conv_grad_weight.register_fake
def _(input: Tensor, kernel: Tensor, grad_output: Tensor, window: Sequence[int]) -> Tensor:
    return _empty_weight(input, grad_output, window)


def derivative(by: Role, at: dict[Role, Tensor], window: Sequence[int]) -> Tensor:
    if by == "output":
        return conv(at["input"], at["kernel"], at["weight"], window, None)
    if by == "input":
        return conv_grad_input(at["kernel"], at["weight"], at["output"], window, at["input"].shape)
    if by == "kernel":
        return conv_grad_kernel(
            at["input"], at["weight"], at["output"], window, at["kernel"].shape[1]
        )
    return conv_grad_weight(at["input"], at["kernel"], at["output"], window)


register(conv, "output", ("input", "kernel", "weight"), derivative)
register(conv_grad_input, "input", ("kernel", "weight", "output"), derivative)
register(conv_grad_kernel, "kernel", ("input", "weight", "output"), derivative)
register(conv_grad_weight, "weight", ("input", "kernel", "output"), derivative)
