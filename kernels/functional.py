"""The PAC operators: arguments checked, then handed to the backend that is to run.

Every function takes ``backend='reference' | 'native' | 'auto'``; None is what
:func:`pacbench.kernels.set_backend` last said. Shapes, results and formulas are those of the
same-named functions in :mod:`pacbench.kernels.reference`; a wrong argument is a ValueError that
names it.
"""
# ruff: noqa: A002 - `input` is the release's name and torch.nn.functional's

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from torch import Tensor

from pacbench.kernels import arguments as check
from pacbench.kernels.arguments import Window
from pacbench.kernels.autocast import float32_under_autocast
from pacbench.kernels.backend import choose

Size = int | Sequence[int]
KernelType = Literal["gaussian", "inv"]


@float32_under_autocast
def adapting_kernel(
    guide: Tensor,
    kernel_size: Size,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    *,
    kernel_type: KernelType = "gaussian",
    inv_alpha: Tensor | None = None,
    inv_lambda: Tensor | None = None,
    asym: bool = False,
    channel_wise: bool = False,
    centre: Tensor | None = None,
    backend: str | None = None,
) -> Tensor:
    """K(f_i, f_j) of the features ``guide`` (B, C, H, W): (B, 1 or C, kh, kw, Ho, Wo)."""
    window = Window.of(kernel_size, stride, padding, dilation)
    check.images("guide", guide)
    output_size = window.output_size(guide.shape[2:])
    check.guide_features(
        guide, output_size, kernel_type, inv_alpha, inv_lambda, centre, channel_wise
    )
    tensors = {"guide": guide, "inv_alpha": inv_alpha, "inv_lambda": inv_lambda, "centre": centre}
    check.same_kind(**tensors)
    kernel = choose(backend, tensors.values()).adapting_kernel(
        guide,
        *window[:4],
        kernel_type=kernel_type,
        inv_alpha=inv_alpha,
        inv_lambda=inv_lambda,
        asym=asym,
        channel_wise=channel_wise,
        centre=centre,
    )
    return cast(Tensor, kernel)


@float32_under_autocast
def pacconv2d(
    input: Tensor,
    kernel: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    *,
    backend: str | None = None,
) -> Tensor:
    """PAC of ``input`` (B, C, H, W) with K given (B, 1 or C, kh, kw, Ho, Wo): (B, O, Ho, Wo).

    ``weight`` (O, C, kh, kw), or (1, 1, kh, kw) shared by all channels; ``bias`` (O,).
    """
    check.images("input", input)
    check.filters(input, weight, bias, transposed=False)
    window = Window.of(weight.shape[2:], stride, padding, dilation)
    _check_kernel(input, kernel, window)
    tensors = {"input": input, "kernel": kernel, "weight": weight, "bias": bias}
    check.same_kind(**tensors)
    output = choose(backend, tensors.values()).pacconv2d(
        input, kernel, weight, bias, window.stride, window.padding, window.dilation
    )
    return cast(Tensor, output)


@float32_under_autocast
def pacconv_transpose2d(
    input: Tensor,
    kernel: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    dilation: Size = 1,
    *,
    backend: str | None = None,
) -> Tensor:
    """Transposed PAC with K (B, 1 or C, kh, kw, Ho, Wo) given at the output's size.

    ``weight`` (C, O, kh, kw), or (1, 1, kh, kw) shared; returns (B, O, Ho, Wo), sized as by
    ``F.conv_transpose2d``. Tap (y, x) of ``weight`` meets tap (y, x) of K.
    """
    check.images("input", input)
    check.filters(input, weight, bias, transposed=True)
    window = Window.of(weight.shape[2:], stride, padding, dilation, output_padding, transposed=True)
    _check_kernel(input, kernel, window)
    tensors = {"input": input, "kernel": kernel, "weight": weight, "bias": bias}
    check.same_kind(**tensors)
    output = choose(backend, tensors.values()).pacconv_transpose2d(
        input,
        kernel,
        weight,
        bias,
        window.stride,
        window.padding,
        window.output_padding,
        window.dilation,
    )
    return cast(Tensor, output)


@float32_under_autocast
def pacpool2d(
    input: Tensor,
    kernel: Tensor,
    kernel_size: Size,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    *,
    backend: str | None = None,
) -> Tensor:
    """Σ_j K_ij v_j, channel by channel: ``input`` (B, C, H, W) to (B, C, Ho, Wo)."""
    check.images("input", input)
    window = Window.of(kernel_size, stride, padding, dilation)
    _check_kernel(input, kernel, window)
    tensors = {"input": input, "kernel": kernel}
    check.same_kind(**tensors)
    output = choose(backend, tensors.values()).pacpool2d(input, kernel, *window[:4])
    return cast(Tensor, output)


@float32_under_autocast
def pac_conv2d(
    input: Tensor,
    guide: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    *,
    kernel_type: KernelType = "gaussian",
    inv_alpha: Tensor | None = None,
    inv_lambda: Tensor | None = None,
    asym: bool = False,
    centre: Tensor | None = None,
    backend: str | None = None,
) -> Tensor:
    """:func:`pacconv2d` with the K of ``guide`` (B, Cg, H, W); native never stores that K."""
    check.images("input", input)
    check.filters(input, weight, bias, transposed=False)
    window = Window.of(weight.shape[2:], stride, padding, dilation)
    _check_guide(input, guide, window, kernel_type, inv_alpha, inv_lambda, centre)
    tensors = {
        "input": input,
        "guide": guide,
        "weight": weight,
        "bias": bias,
        "inv_alpha": inv_alpha,
        "inv_lambda": inv_lambda,
        "centre": centre,
    }
    check.same_kind(**tensors)
    output = choose(backend, tensors.values()).pac_conv2d(
        input,
        guide,
        weight,
        bias,
        window.stride,
        window.padding,
        window.dilation,
        kernel_type=kernel_type,
        inv_alpha=inv_alpha,
        inv_lambda=inv_lambda,
        asym=asym,
        centre=centre,
    )
    return cast(Tensor, output)


@float32_under_autocast
def pac_conv_transpose2d(
    input: Tensor,
    guide: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    dilation: Size = 1,
    *,
    kernel_type: KernelType = "gaussian",
    inv_alpha: Tensor | None = None,
    inv_lambda: Tensor | None = None,
    asym: bool = False,
    centre: Tensor | None = None,
    backend: str | None = None,
) -> Tensor:
    """:func:`pacconv_transpose2d` with the K of ``guide`` (B, Cg, Ho, Wo), never stored."""
    check.images("input", input)
    check.filters(input, weight, bias, transposed=True)
    window = Window.of(weight.shape[2:], stride, padding, dilation, output_padding, transposed=True)
    _check_guide(input, guide, window, kernel_type, inv_alpha, inv_lambda, centre)
    tensors = {
        "input": input,
        "guide": guide,
        "weight": weight,
        "bias": bias,
        "inv_alpha": inv_alpha,
        "inv_lambda": inv_lambda,
        "centre": centre,
    }
    check.same_kind(**tensors)
    output = choose(backend, tensors.values()).pac_conv_transpose2d(
        input,
        guide,
        weight,
        bias,
        window.stride,
        window.padding,
        window.output_padding,
        window.dilation,
        kernel_type=kernel_type,
        inv_alpha=inv_alpha,
        inv_lambda=inv_lambda,
        asym=asym,
        centre=centre,
    )
    return cast(Tensor, output)


@float32_under_autocast
def pac_pool2d(
    input: Tensor,
    guide: Tensor,
    kernel_size: Size,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    *,
    kernel_type: KernelType = "gaussian",
    inv_alpha: Tensor | None = None,
    inv_lambda: Tensor | None = None,
    asym: bool = False,
    channel_wise: bool = False,
    centre: Tensor | None = None,
    backend: str | None = None,
) -> Tensor:
    """:func:`pacpool2d` with the K of ``guide`` (B, Cg, H, W); Cg = C if ``channel_wise``."""
    check.images("input", input)
    window = Window.of(kernel_size, stride, padding, dilation)
    _check_guide(input, guide, window, kernel_type, inv_alpha, inv_lambda, centre, channel_wise)
    tensors = {
        "input": input,
        "guide": guide,
        "inv_alpha": inv_alpha,
        "inv_lambda": inv_lambda,
        "centre": centre,
    }
    check.same_kind(**tensors)
    output = choose(backend, tensors.values()).pac_pool2d(
        input,
        guide,
        *window[:4],
        kernel_type=kernel_type,
        inv_alpha=inv_alpha,
        inv_lambda=inv_lambda,
        asym=asym,
        channel_wise=channel_wise,
        centre=centre,
    )
    return cast(Tensor, output)


def _check_kernel(input: Tensor, kernel: Tensor, window: Window) -> None:
    batch, channels = input.shape[:2]
    size = (*window.kernel_size, *window.output_size(input.shape[2:]))
    check.has_shape("kernel", kernel, (batch, 1, *size), (batch, channels, *size))


def _check_guide(
    input: Tensor,
    guide: Tensor,
    window: Window,
    kernel_type: str,
    inv_alpha: Tensor | None,
    inv_lambda: Tensor | None,
    centre: Tensor | None,
    channel_wise: bool = False,
) -> None:
    output_size = window.output_size(input.shape[2:])
    size = output_size if window.transposed else tuple(input.shape[2:])
    channels = input.shape[1] if channel_wise else None
    check.has_shape("guide", guide, (input.shape[0], channels, *size))
    check.guide_features(
        guide, output_size, kernel_type, inv_alpha, inv_lambda, centre, channel_wise
    )
