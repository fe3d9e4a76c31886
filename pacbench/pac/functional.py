"""PAC as functions, K by itself: the interface of the paper's release.

``packernel2d`` makes the adapting kernel K, the others filter with it. ``native_impl`` is accepted
because the release has it (there it chose between two implementations of the same result) and does
nothing here: ``backend`` chooses, ``'auto'``, ``'native'`` or ``'reference'``.
"""
# ruff: noqa: A002, ARG001 - `input` and `native_impl` are the release's names

from __future__ import annotations

from typing import TypedDict

from torch import Tensor

from pacbench import kernels
from pacbench.kernels.arguments import Window, has_shape, images
from pacbench.kernels.functional import Size
from pacbench.kernels.reference import KernelType
from pacbench.pac.kernel_types import parse_kernel_type, parse_smooth_kernel_type
from pacbench.pac.windows import filtered_size, guide_window, smooth_centre, unfold, weigh_kernel


class AdaptingOptions(TypedDict):
    """Keywords of the operators of ``pacbench.kernels`` that say which K, and who computes it."""

    kernel_type: KernelType
    inv_alpha: Tensor | None
    inv_lambda: Tensor | None
    asym: bool
    centre: Tensor | None
    backend: str | None


def adapting_options(
    guide: Tensor,
    window: Window,
    kernel_type: str,
    inv_alpha: Tensor | None,
    inv_lambda: Tensor | None,
    smooth_kernel: Tensor | None,
    backend: str,
) -> AdaptingOptions:
    """The release's words for K in those of the operators.

    alpha and lambda that are not given are those that ``kernel_type`` names.
    """
    parsed = parse_kernel_type(kernel_type)
    if parsed.family == "gaussian":
        inv_alpha = inv_lambda = None
    else:
        inv_alpha = guide.new_full((), parsed.inv_alpha) if inv_alpha is None else inv_alpha
        inv_lambda = guide.new_full((), parsed.inv_lambda) if inv_lambda is None else inv_lambda
    centre = None
    if smooth_kernel is not None:
        centre = smooth_centre(guide, smooth_kernel, guide_window(window))
    return {
        "kernel_type": parsed.family,
        "inv_alpha": inv_alpha,
        "inv_lambda": inv_lambda,
        "asym": parsed.asym,
        "centre": centre,
        "backend": process_backend(backend),
    }


def process_backend(backend: str) -> str | None:
    """'auto' leaves the choice to ``pacbench.kernels.set_backend`` and PACBENCH_BACKEND."""
    return None if backend == "auto" else backend


def packernel2d(
    input: Tensor,
    mask: Tensor | None = None,
    kernel_size: Size = 0,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    dilation: Size = 1,
    kernel_type: str = "gaussian",
    smooth_kernel_type: str = "none",
    smooth_kernel: Tensor | None = None,
    inv_alpha: Tensor | None = None,
    inv_lambda: Tensor | None = None,
    channel_wise: bool = False,
    normalize_kernel: bool = False,
    transposed: bool = False,
    native_impl: bool = False,
    *,
    backend: str = "auto",
) -> tuple[Tensor, Tensor | None]:
    """The adapting kernel K of the features ``input``.

    Args:
        input: guide f (B, C, H, W); for ``transposed`` of the size of the layer's output.
        mask: (B, 1 or C, H, W), 1 where the *filtered* input is valid, so for ``transposed`` of the
            size of the layer's input; an output mask of another layer fits. See below.
        kernel_size: odd.
        kernel_type: 'gaussian', exp(−|f_i − f_j|² / 2), or 'inv_{alpha}_{lambda}[_asym][_fixed]',
            alpha + (|f_i − f_j|² + 1e-4)^(lambda / 2), the release's form of the paper's
            detail-preserving kernel; ``_asym`` sets negative f_j − f_i to 0 first.
        smooth_kernel_type: 'none', 'gaussian', 'average_{size}' or 'full_{size}': smooths f_i.
        smooth_kernel: filter (1, 1, s, s) for it; may be None except for 'full'.
        inv_alpha, inv_lambda: one value or, with ``channel_wise``, one per channel; None takes them
            from ``kernel_type``.
        channel_wise: a K for each channel of the guide.
        normalize_kernel: divide K by its sum over the window's taps inside the image.
        native_impl: accepted, without effect.

    Returns:
        K (B, 1 or C, kh, kw, Ho, Wo) and the output mask, None without ``mask``. With a mask, taps
        are weighted by it and, unless normalised, K is divided by the share of the window (as far
        as it is in the image) that is valid; where nothing is valid, K is 0 and so is the output
        mask (B, 1 or C, 1, 1, Ho, Wo), uint8.

    Raises:
        ValueError: for arguments that are not allowed or do not fit together.
    """
    smooth = parse_smooth_kernel_type(smooth_kernel_type)
    if smooth.family == "none":
        smooth_kernel = None
    elif smooth_kernel is None:
        if smooth.learned:
            raise ValueError(f"smooth_kernel_type '{smooth_kernel_type}' needs a smooth_kernel")
        smooth_kernel = smooth.initial_filter().to(input)

    window = Window.of(
        kernel_size, stride, padding, dilation, output_padding, transposed=transposed
    )
    kernel = kernels.adapting_kernel(
        input,
        *guide_window(window)[:4],
        channel_wise=channel_wise,
        **adapting_options(
            input, window, kernel_type, inv_alpha, inv_lambda, smooth_kernel, backend
        ),
    )
    if mask is None and not normalize_kernel:
        return kernel, None

    size = filtered_size(input, window)
    inside = unfold(kernel.new_ones(1, 1, *size), window)
    valid = None if mask is None else unfold(_image_mask(mask, kernel, size), window)
    return weigh_kernel(kernel, inside, valid, normalize=normalize_kernel)


def _image_mask(mask: Tensor, kernel: Tensor, size: tuple[int, int]) -> Tensor:
    """``mask`` as (B or 1, 1 or C, H, W) of K's dtype; output masks lose their two window axes."""
    image = mask
    if mask.dim() == 6 and mask.shape[2:4] == (1, 1):
        image = mask[:, :, 0, 0]
    batch, channels = kernel.shape[:2]
    fits = (
        image.dim() == 4
        and image.shape[0] in (1, batch)
        and (image.shape[1] == 1 or channels in (1, image.shape[1]))
        and tuple(image.shape[2:]) == size
    )
    if not fits:
        raise ValueError(
            f"mask has shape {tuple(mask.shape)}; expected ({batch}, 1, {size[0]}, {size[1]}), "
            "the batch and size of the filtered input"
        )
    return image.to(kernel.dtype)


def _check_shared(input: Tensor, weight: Tensor, shared_filters: bool) -> None:
    """A (1, 1, kh, kw) weight means one filter for all channels; that must be asked for."""
    images("input", input)
    has_shape("weight", weight, (None, None, None, None))
    channels = input.shape[1]
    single = weight.shape[:2] == (1, 1)
    if shared_filters and not single:
        raise ValueError(
            f"weight has shape {tuple(weight.shape)}; with shared_filters it must be (1, 1, kh, kw)"
        )
    if single and channels != 1 and not shared_filters:
        raise ValueError(
            f"weight has shape {tuple(weight.shape)} but input has {channels} channels; pass "
            "shared_filters=True to filter each channel by it"
        )


def pacconv2d(
    input: Tensor,
    kernel: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    shared_filters: bool = False,
    native_impl: bool = False,
    *,
    backend: str = "auto",
) -> Tensor:
    """Pixel-adaptive convolution with K given.

    Args:
        input: v (B, C, H, W).
        kernel: K (B, 1 or C, kh, kw, Ho, Wo), as made by :func:`packernel2d`.
        weight: W (O, C, kh, kw); (1, 1, kh, kw) with ``shared_filters``, then O = C.
        bias: b (O,).
        native_impl: accepted, without effect.

    Returns:
        (B, O, Ho, Wo), the size that ``F.conv2d`` gives. With K = 1 it is ``F.conv2d``.
    """
    _check_shared(input, weight, shared_filters)
    return kernels.pacconv2d(
        input, kernel, weight, bias, stride, padding, dilation, backend=process_backend(backend)
    )


def pacconv_transpose2d(
    input: Tensor,
    kernel: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    dilation: Size = 1,
    shared_filters: bool = False,
    native_impl: bool = False,
    *,
    backend: str = "auto",
) -> Tensor:
    """Transposed pixel-adaptive convolution with K given, at the output's size.

    Args:
        input: v (B, C, H, W).
        kernel: K (B, 1 or C, kh, kw, Ho, Wo), of ``packernel2d(guide, ..., transposed=True)``.
        weight: W (C, O, kh, kw); (1, 1, kh, kw) with ``shared_filters``, then O = C.
        bias: b (O,).
        native_impl: accepted, without effect.

    Returns:
        (B, O, Ho, Wo), the size that ``F.conv_transpose2d`` gives. The taps of W lie in the window
        around the output pixel, as in the release, those of ``F.conv_transpose2d`` around the input
        pixel: with K = 1 this is ``F.conv_transpose2d`` of ``weight.flip(2, 3)``.
    """
    _check_shared(input, weight, shared_filters)
    return kernels.pacconv_transpose2d(
        input,
        kernel,
        weight,
        bias,
        stride,
        padding,
        output_padding,
        dilation,
        backend=process_backend(backend),
    )


def pacpool2d(
    input: Tensor,
    kernel: Tensor,
    kernel_size: Size,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    native_impl: bool = False,
    *,
    backend: str = "auto",
) -> Tensor:
    """Pixel-adaptive pooling with K given: Σ_j K(f_i, f_j) v_j, channel by channel.

    ``input`` (B, C, H, W), ``kernel`` (B, 1 or C, kh, kw, Ho, Wo); returns (B, C, Ho, Wo). It is a
    sum: with K = 1 it is kh·kw times ``F.avg_pool2d``, with a normalised constant K exactly it (its
    ``count_include_pad=False``). ``native_impl`` is accepted, without effect.
    """
    return kernels.pacpool2d(
        input, kernel, kernel_size, stride, padding, dilation, backend=process_backend(backend)
    )
