"""PAC channel by channel with K given, as torch operators.

Pooling, or one spatial filter ``weight`` (1, 1, kh, kw) for all channels: the derivatives of
:mod:`.linear_form`'s S. K has one channel; a K per channel is one more batch axis.
"""
# ruff: noqa: A001, A002, ARG001 - `input` is the torch name; a fake has the arguments of its operator

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from pacbench.kernels import _native, _structs
from pacbench.kernels.arguments import Window
from pacbench.kernels.linear_form import Role, register


def shape_of(window: Sequence[int], input_size: Sequence[int]) -> _structs.PacShape:
    """What the library is told of an operator on images of size (B, C, H, W)."""
    batch, channels, height, width = input_size
    y, x = _structs.axes(Window.from_flat(window), (height, width))
    return _structs.PacShape(batch, channels, channels, 1, 0, 0, torch.get_num_threads(), y, x)


@_native.operator("pool")
def pool(
    input: Tensor,
    kernel: Tensor,
    weight: Tensor | None,
    window: Sequence[int],
    bias: Tensor | None,
) -> Tensor:
    input, kernel = input.contiguous(), kernel.contiguous()
    weight, bias = _contiguous(weight), _contiguous(bias)
    output = empty_output(input, window)
    shape = shape_of(window, input.shape)
    _native.call("pac_pool", shape, None, kernel, input, weight, bias, output)
    return output


@_native.operator("pool_grad_input")
def pool_grad_input(
    kernel: Tensor,
    weight: Tensor | None,
    grad_output: Tensor,
    window: Sequence[int],
    input_size: Sequence[int],
) -> Tensor:
    kernel, grad_output = kernel.contiguous(), grad_output.contiguous()
    weight = _contiguous(weight)
    grad_input = kernel.new_empty(input_size)
    shape = shape_of(window, input_size)
    _native.call("pac_pool_grad_input", shape, kernel, grad_output, weight, grad_input)
    return grad_input


@_native.operator("pool_grad_kernel")
def pool_grad_kernel(
    input: Tensor, weight: Tensor | None, grad_output: Tensor, window: Sequence[int]
) -> Tensor:
    input, grad_output = input.contiguous(), grad_output.contiguous()
    weight = _contiguous(weight)
    grad_kernel = _empty_kernel(input, grad_output, window)
    shape = shape_of(window, input.shape)
    _native.call("pac_pool_grad_kernel", shape, input, grad_output, weight, grad_kernel)
    return grad_kernel


def _contiguous(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else tensor.contiguous()


def empty_output(input: Tensor, window: Sequence[int]) -> Tensor:
    size = Window.from_flat(window).output_size(input.shape[2:])
    return input.new_empty(input.shape[0], input.shape[1], *size)


def _empty_kernel(input: Tensor, output: Tensor, window: Sequence[int]) -> Tensor:
    taps = Window.from_flat(window).kernel_size
    return input.new_empty(input.shape[0], 1, *taps, *output.shape[2:])


@pool.register_fake
def _(
    input: Tensor,
    kernel: Tensor,
    weight: Tensor | None,
    window: Sequence[int],
    bias: Tensor | None,
) -> Tensor:
    return empty_output(input, window)


@pool_grad_input.register_fake
def _(
    kernel: Tensor,
    weight: Tensor | None,
    grad_output: Tensor,
    window: Sequence[int],
    input_size: Sequence[int],
) -> Tensor:
    return kernel.new_empty(input_size)


@pool_grad_kernel.register_fake
def _(input: Tensor, weight: Tensor | None, grad_output: Tensor, window: Sequence[int]) -> Tensor:
    return _empty_kernel(input, grad_output, window)


def derivative(by: Role, at: dict[Role, Tensor], window: Sequence[int]) -> Tensor:
    if by == "output":
        return pool(at["input"], at["kernel"], at["weight"], window, None)
    if by == "input":
        return pool_grad_input(at["kernel"], at["weight"], at["output"], window, at["input"].shape)
    if by == "kernel":
        return pool_grad_kernel(at["input"], at["weight"], at["output"], window)
    products = at["kernel"] * pool_grad_kernel(at["input"], None, at["output"], window)
    return products.sum((0, 1, 4, 5))[None, None]


register(pool, "output", ("input", "kernel", "weight"), derivative)
register(pool_grad_input, "input", ("kernel", "weight", "output"), derivative)
register(pool_grad_kernel, "kernel", ("input", "weight", "output"), derivative)
