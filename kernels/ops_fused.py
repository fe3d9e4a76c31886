"""PAC straight from the guide, as torch operators that never store K.

The gradients compute K again, use it as :mod:`.ops_conv` and :mod:`.ops_pool` do, and drop it: what
is kept between the two passes has the size of the images.
"""
# ruff: noqa: A001, A002, ARG001 - `input` is the torch name; a fake has the arguments of its operator

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from pacbench.kernels import _native, ops_conv, ops_kernel, ops_pool
from pacbench.kernels.arguments import Window
from pacbench.kernels.linear_form import Role


def guide_window(window: Window) -> Window:
    """The taps in the guide: those in the input, or around the output pixel if transposed."""
    if not window.transposed:
        return window
    padding = [d * (k - 1) // 2 for k, d in zip(window.kernel_size, window.dilation, strict=True)]
    return Window(window.kernel_size, (1, 1), (padding[0], padding[1]), window.dilation)


def is_dense(weight: Tensor | None) -> bool:
    """Whether channels are mixed; else PAC goes channel by channel, maybe with a shared filter."""
    return weight is not None and tuple(weight.shape[:2]) != (1, 1)


@_native.operator("fused")
def fused(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    guide: Tensor,
    centre: Tensor,
    inv_alpha: Tensor | None,
    inv_lambda: Tensor | None,
    asym: bool,
    window: Sequence[int],
) -> Tensor:
    taps = Window.from_flat(window)
    features = ops_kernel.Guide(guide, centre, inv_alpha, inv_lambda, asym, guide_window(taps))
    input = input.contiguous()
    weight, bias = (None if t is None else t.contiguous() for t in (weight, bias))
    output = _empty_output(input, weight, window)
    if weight is not None and is_dense(weight):
        name, shape = "pac_conv", ops_conv.shape_of(window, input.shape, weight, 1)
    else:
        name, shape = "pac_pool", ops_pool.shape_of(window, input.shape)
    _native.call(name, shape, features.struct, None, input, weight, bias, output)
    return output


def _empty_output(input: Tensor, weight: Tensor | None, window: Sequence[int]) -> Tensor:
    if weight is not None and is_dense(weight):
        return ops_conv.empty_output(input, weight, window)
    return ops_pool.empty_output(input, window)


@fused.register_fake
def _(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    guide: Tensor,
    centre: Tensor,
    inv_alpha: Tensor | None,
    inv_lambda: Tensor | None,
    asym: bool,
    window: Sequence[int],
) -> Tensor:
    return _empty_output(input, weight, window)


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[:2], *inputs[3:7])
    ctx.asym, ctx.window = inputs[7:]


def _backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
    input, weight, *features = ctx.saved_tensors
    by_input, by_weight, by_bias, *by_features = ctx.needs_input_grad[:7]
    taps = guide_window(Window.from_flat(ctx.window)).flat()
    derivative = ops_conv.derivative if is_dense(weight) else ops_pool.derivative

    kernel = ops_kernel.adapting_kernel(*features, ctx.asym, taps)
    at: dict[Role, Tensor] = {
        "input": input,
        "kernel": kernel,
        "weight": weight,
        "output": grad_output,
    }
    grad_features: tuple[Tensor | None, ...] = (None,) * 4
    if any(by_features):
        grad_kernel = derivative("kernel", at, ctx.window)
        grad_features = ops_kernel.gradients(features, grad_kernel, ctx.asym, taps)
    return (
        derivative("input", at, ctx.window) if by_input else None,
        derivative("weight", at, ctx.window) if by_weight else None,
        grad_output.sum((0, 2, 3)) if by_bias else None,
        *grad_features,
        None,
        None,
    )


fused.register_autograd(_backward, setup_context=_setup_context)
