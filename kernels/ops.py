"""The native operators: same names and arguments as in :mod:`pacbench.kernels.reference`.

They trust their arguments, which ``pacbench.kernels`` checks first, and take tensors in any memory
format: float32 or float64 on the CPU; float32, float16 or bfloat16 on CUDA devices.
"""
# ruff: noqa: A002, ARG001 - `input` is the torch name; inv_alpha tells the kernel_type

from __future__ import annotations

from typing import Literal

import torch.nn.functional as F
from torch import Tensor

from pacbench.kernels import ops_conv, ops_fused, ops_kernel, ops_pool
from pacbench.kernels.arguments import Window

IntPair = int | tuple[int, int]
KernelType = Literal["gaussian", "inv"]


def adapting_kernel(
    guide: Tensor,
    kernel_size: IntPair,
    stride: IntPair = 1,
    padding: IntPair = 0,
    dilation: IntPair = 1,
    *,
    kernel_type: KernelType = "gaussian",
    inv_alpha: Tensor | None = None,
    inv_lambda: Tensor | None = None,
    asym: bool = False,
    channel_wise: bool = False,
    centre: Tensor | None = None,
) -> Tensor:
    window = Window.of(kernel_size, stride, padding, dilation)
    batch, channels = guide.shape[:2]
    if centre is None:
        centre = middle_pixels(guide, window)
    if channel_wise:
        guide, centre = _channels_as_batch(guide), _channels_as_batch(centre)
    kernel = ops_kernel.adapting_kernel(
        guide,
        centre,
        *(_per_entry(p, batch, channels, channel_wise) for p in (inv_alpha, inv_lambda)),
        asym,
        window.flat(),
    )
    return kernel.unflatten(0, (batch, channels)).squeeze(2) if channel_wise else kernel


def pacconv2d(
    input: Tensor,
    kernel: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: IntPair = 1,
    padding: IntPair = 0,
    dilation: IntPair = 1,
) -> Tensor:
    window = Window.of(weight.shape[2:], stride, padding, dilation)
    return _with_kernel(input, kernel, weight, bias, window)


def pacconv_transpose2d(
    input: Tensor,
    kernel: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: IntPair = 1,
    padding: IntPair = 0,
    output_padding: IntPair = 0,
    dilation: IntPair = 1,
) -> Tensor:
    window = Window.of(weight.shape[2:], stride, padding, dilation, output_padding, transposed=True)
    return _with_kernel(input, kernel, weight, bias, window)


def pacpool2d(
    input: Tensor,
    kernel: Tensor,
    kernel_size: IntPair,
    stride: IntPair = 1,
    padding: IntPair = 0,
    dilation: IntPair = 1,
) -> Tensor:
    window = Window.of(kernel_size, stride, padding, dilation)
    return _with_kernel(input, kernel, None, None, window)


def pac_conv2d(
    input: Tensor,
    guide: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: IntPair = 1,
    padding: IntPair = 0,
    dilation: IntPair = 1,
    *,
    kernel_type: KernelType = "gaussian",
    inv_alpha: Tensor | None = None,
    inv_lambda: Tensor | None = None,
    asym: bool = False,
    centre: Tensor | None = None,
) -> Tensor:
    window = Window.of(weight.shape[2:], stride, padding, dilation)
    return _with_guide(input, guide, weight, bias, window, inv_alpha, inv_lambda, asym, centre)


def pac_conv_transpose2d(
    input: Tensor,
    guide: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: IntPair = 1,
    padding: IntPair = 0,
    output_padding: IntPair = 0,
    dilation: IntPair = 1,
    *,
    kernel_type: KernelType = "gaussian",
    inv_alpha: Tensor | None = None,
    inv_lambda: Tensor | None = None,
    asym: bool = False,
    centre: Tensor | None = None,
) -> Tensor:
    window = Window.of(weight.shape[2:], stride, padding, dilation, output_padding, transposed=True)
    return _with_guide(input, guide, weight, bias, window, inv_alpha, inv_lambda, asym, centre)


def pac_pool2d(
    input: Tensor,
    guide: Tensor,
    kernel_size: IntPair,
    stride: IntPair = 1,
    padding: IntPair = 0,
    dilation: IntPair = 1,
    *,
    kernel_type: KernelType = "gaussian",
    inv_alpha: Tensor | None = None,
    inv_lambda: Tensor | None = None,
    asym: bool = False,
    channel_wise: bool = False,
    centre: Tensor | None = None,
) -> Tensor:
    window = Window.of(kernel_size, stride, padding, dilation)
    if not channel_wise:
        return _with_guide(input, guide, None, None, window, inv_alpha, inv_lambda, asym, centre)
    batch, channels = input.shape[:2]
    output = _with_guide(
        _channels_as_batch(input),
        _channels_as_batch(guide),
        None,
        None,
        window,
        _per_entry(inv_alpha, batch, channels, True),
        _per_entry(inv_lambda, batch, channels, True),
        asym,
        None if centre is None else _channels_as_batch(centre),
    )
    return output.view(batch, channels, *output.shape[2:])


def middle_pixels(guide: Tensor, window: Window) -> Tensor:
    """f_i where it is not smoothed (B, C, Ho, Wo): the middle pixel of each window, 0 outside.

    The guide itself, not a copy, where windows keep its size.
    """
    size = window.output_size(guide.shape[2:])
    if window.stride == (1, 1) and size == tuple(guide.shape[2:]):
        return guide
    picked = []
    sides: list[int] = []
    for k, s, p, d, n, extent in zip(*window[:4], size, guide.shape[2:], strict=True):
        first = d * (k // 2) - p
        end = first + (n - 1) * s + 1
        before = max(0, -first)
        sides = [before, max(0, end - extent), *sides]  # F.pad counts from the last axis
        picked.append(slice(first + before, end + before, s))
    return F.pad(guide, sides)[:, :, picked[0], picked[1]]


def _with_kernel(
    input: Tensor, kernel: Tensor, weight: Tensor | None, bias: Tensor | None, window: Window
) -> Tensor:
    if weight is not None and ops_fused.is_dense(weight):
        return ops_conv.conv(input, kernel, weight, window.flat(), bias)
    if kernel.shape[1] == 1:
        return ops_pool.pool(input, kernel, weight, window.flat(), bias)
    output = ops_pool.pool(
        _channels_as_batch(input), _channels_as_batch(kernel), weight, window.flat(), None
    )
    output = output.view(*input.shape[:2], *output.shape[2:])
    return output if bias is None else output + bias.view(1, -1, 1, 1)


def _with_guide(
    input: Tensor,
    guide: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    window: Window,
    inv_alpha: Tensor | None,
    inv_lambda: Tensor | None,
    asym: bool,
    centre: Tensor | None,
) -> Tensor:
    if centre is None:
        centre = middle_pixels(guide, ops_fused.guide_window(window))
    batch = guide.shape[0]
    inv = (_per_entry(p, batch, 1, False) for p in (inv_alpha, inv_lambda))
    return ops_fused.fused(input, weight, bias, guide, centre, *inv, asym, window.flat())


def _channels_as_batch(tensor: Tensor) -> Tensor:
    """(B, C, …) as (B·C, 1, …)."""
    return tensor.flatten(0, 1).unsqueeze(1)


def _per_entry(
    parameter: Tensor | None, batch: int, channels: int, channel_wise: bool
) -> Tensor | None:
    """One value, or one per channel, repeated for every batch entry (B,), or (B·C,)."""
    if parameter is None or parameter.numel() == batch * channels:
        return None if parameter is None else parameter.reshape(-1)
    if channel_wise:
        return parameter.reshape(1, -1).expand(batch, channels).reshape(-1)
    return parameter.reshape(1).expand(batch)
