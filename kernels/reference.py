"""Pixel-adaptive convolution in plain torch: the specification of the native operators.

    v'_i = Σ_{j∈Ω(i)} K(f_i, f_j) W[p_i − p_j] v_j + b

Computed the way the papers' code does it: unfold the windows, multiply by K, contract with W. That
copies the input once per tap, which is what the native kernels avoid and what the ``reference``
backend of the benchmarks measures. Every step is differentiable by autograd, in any dtype.

Tap (y, x) of a window is a plain cross-correlation tap, as in ``F.conv2d``: output pixel (h, w)
sees input pixel (h·stride − padding + y·dilation, …). Pixels outside the image count as 0, for the
input and for the guide.

The functions trust their arguments; ``pacbench.kernels`` checks them first.
"""
# ruff: noqa: A002 - `input` is the release's name and torch.nn.functional's

from __future__ import annotations

from typing import Literal, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor

IntPair: TypeAlias = int | tuple[int, int]
KernelType: TypeAlias = Literal["gaussian", "inv"]

# Added to |f_i − f_j|² by the release, so that a power below 1 has a gradient at equal features.
INV_EPSILON = 1e-4


def pair(value: IntPair) -> tuple[int, int]:
    """``3`` or ``(3, 3)`` to ``(3, 3)``."""
    return (value, value) if isinstance(value, int) else (value[0], value[1])


def same_padding(kernel_size: IntPair, dilation: IntPair) -> tuple[int, int]:
    """Padding that makes a window of stride 1 keep the image's size (odd kernels)."""
    (kh, kw), (dh, dw) = pair(kernel_size), pair(dilation)
    return dh * (kh - 1) // 2, dw * (kw - 1) // 2


def unfold_windows(
    image: Tensor, kernel_size: IntPair, stride: IntPair, padding: IntPair, dilation: IntPair
) -> Tensor:
    """Every window of ``image`` (B, C, H, W), zero outside it: (B, C, kh, kw, Ho, Wo)."""
    size, step, pad, gap = pair(kernel_size), pair(stride), pair(padding), pair(dilation)
    out = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(image.shape[2:], size, step, pad, gap, strict=True)
    ]
    columns = F.unfold(image, size, gap, pad, step)
    return columns.view(image.shape[0], image.shape[1], *size, *out)


def spread_for_transpose(
    image: Tensor,
    kernel_size: IntPair,
    stride: IntPair,
    padding: IntPair,
    output_padding: IntPair,
    dilation: IntPair,
) -> Tensor:
    """Zeros between and around the pixels of ``image`` (B, C, H, W) (fractional striding).

    A convolution of stride 1, without padding, over the result has exactly the output size of
    ``F.conv_transpose2d`` with these arguments.
    """
    channels = image.shape[1]
    ones = image.new_ones(channels, 1, 1, 1)
    spread = F.conv_transpose2d(image, ones, stride=pair(stride), groups=channels)
    sides: list[int] = []
    kept = []
    for n, k, p, extra, d in zip(
        spread.shape[2:],
        pair(kernel_size),
        pair(padding),
        pair(output_padding),
        pair(dilation),
        strict=True,
    ):
        before, after = d * (k - 1) - p, d * (k - 1) - p + extra
        sides = [max(before, 0), max(after, 0), *sides]  # F.pad counts from the last axis
        # More padding than taps cuts pixels off, possibly all of them.
        first = max(-before, 0)
        kept.append(slice(first, first + n + before + after))
    return F.pad(spread, sides)[:, :, kept[0], kept[1]]


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
    """The adapting kernel K(f_i, f_j) of the features ``guide`` (B, C, H, W).

    ``gaussian``: exp(−|f_i − f_j|² / 2). ``inv``: alpha + (|f_i − f_j|² + 1e-4)^(lambda / 2), as
    the paper's release computes it; ``inv_alpha`` and ``inv_lambda`` hold one value, or one per
    channel with ``channel_wise``. ``asym`` sets negative differences f_j − f_i to 0 first. With
    ``channel_wise`` each channel of the guide makes a K of its own instead of sharing |f_i − f_j|².

    ``centre`` (B, C, Ho, Wo) holds f_i where it is smoothed; else f_i is the window's middle pixel.

    Returns K (B, 1 or C, kh, kw, Ho, Wo).
    """
    windows = unfold_windows(guide, kernel_size, stride, padding, dilation)
    if centre is None:
        kh, kw = pair(kernel_size)
        centre = windows[:, :, kh // 2, kw // 2]
    difference = windows - centre[:, :, None, None]
    if asym:
        difference = F.relu(difference)
    squared = difference * difference
    if not channel_wise:
        squared = squared.sum(dim=1, keepdim=True)
    if kernel_type == "gaussian":
        return torch.exp(-0.5 * squared)
    if inv_alpha is None or inv_lambda is None:
        raise ValueError("kernel_type 'inv' needs inv_alpha and inv_lambda; got None")
    per_channel = (-1, 1, 1, 1, 1)
    power = 0.5 * inv_lambda.view(per_channel)
    return inv_alpha.view(per_channel) + torch.pow(squared + INV_EPSILON, power)


def _contract(weighted: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Windows (B, C, kh, kw, Ho, Wo) with filters (O, C, kh, kw), or one (1, 1, kh, kw) for all."""
    if weight.shape[:2] == (1, 1):
        output = torch.einsum("bcklhw,kl->bchw", weighted, weight[0, 0])
    else:
        output = torch.einsum("bcklhw,ockl->bohw", weighted, weight)
    return output if bias is None else output + bias.view(1, -1, 1, 1)


def pacconv2d(
    input: Tensor,
    kernel: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: IntPair = 1,
    padding: IntPair = 0,
    dilation: IntPair = 1,
) -> Tensor:
    """PAC with K given.

    ``input`` (B, C, H, W); ``kernel`` (B, 1 or C, kh, kw, Ho, Wo); ``weight`` (O, C, kh, kw), or
    (1, 1, kh, kw) for one spatial filter shared by all channels (then O = C); ``bias`` (O,).
    Returns (B, O, Ho, Wo).
    """
    windows = unfold_windows(input, (weight.shape[2], weight.shape[3]), stride, padding, dilation)
    return _contract(windows * kernel, weight, bias)


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
    """Transposed PAC with K given, at the output's size.

    ``input`` (B, C, H, W); ``kernel`` (B, 1 or C, kh, kw, Ho, Wo); ``weight`` (C, O, kh, kw), or
    (1, 1, kh, kw) shared; ``bias`` (O,). Returns (B, O, Ho, Wo), sized as by
    ``F.conv_transpose2d``.

    Tap (y, x) of ``weight`` meets tap (y, x) of ``kernel``: both are window taps around the output
    pixel, as in the release. ``F.conv_transpose2d`` counts its taps from the input pixel, so with
    K = 1 this is ``F.conv_transpose2d`` of ``weight.flip(2, 3)``.
    """
    size = (weight.shape[2], weight.shape[3])
    spread = spread_for_transpose(input, size, stride, padding, output_padding, dilation)
    return pacconv2d(spread, kernel, weight.transpose(0, 1), bias, dilation=dilation)


def pacpool2d(
    input: Tensor,
    kernel: Tensor,
    kernel_size: IntPair,
    stride: IntPair = 1,
    padding: IntPair = 0,
    dilation: IntPair = 1,
) -> Tensor:
    """Pooling by K alone: Σ_j K(f_i, f_j) v_j, channel by channel (a sum, not a mean).

    ``input`` (B, C, H, W); ``kernel`` (B, 1 or C, kh, kw, Ho, Wo). Returns (B, C, Ho, Wo).
    """
    windows = unfold_windows(input, kernel_size, stride, padding, dilation)
    return (windows * kernel).sum(dim=(2, 3))


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
    """:func:`pacconv2d` with the K of ``guide`` (B, Cg, H, W), options of adapting_kernel."""
    kernel = adapting_kernel(
        guide,
        (weight.shape[2], weight.shape[3]),
        stride,
        padding,
        dilation,
        kernel_type=kernel_type,
        inv_alpha=inv_alpha,
        inv_lambda=inv_lambda,
        asym=asym,
        centre=centre,
    )
    return pacconv2d(input, kernel, weight, bias, stride, padding, dilation)


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
    """:func:`pacconv_transpose2d` with the K of ``guide`` (B, Cg, Ho, Wo), sized as the output.

    K's windows lie around the output pixels: stride 1 and the padding that keeps the size.
    """
    size = (weight.shape[2], weight.shape[3])
    kernel = adapting_kernel(
        guide,
        size,
        1,
        same_padding(size, dilation),
        dilation,
        kernel_type=kernel_type,
        inv_alpha=inv_alpha,
        inv_lambda=inv_lambda,
        asym=asym,
        centre=centre,
    )
    return pacconv_transpose2d(
        input, kernel, weight, bias, stride, padding, output_padding, dilation
    )


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
    """:func:`pacpool2d` with the K of ``guide`` (B, Cg, H, W); Cg = C with ``channel_wise``."""
    kernel = adapting_kernel(
        guide,
        kernel_size,
        stride,
        padding,
        dilation,
        kernel_type=kernel_type,
        inv_alpha=inv_alpha,
        inv_lambda=inv_lambda,
        asym=asym,
        channel_wise=channel_wise,
        centre=centre,
    )
    return pacpool2d(input, kernel, kernel_size, stride, padding, dilation)
