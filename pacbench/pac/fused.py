"""PAC straight from the guide: K is made tap by tap where it is used and never stored."""
# ruff: noqa: A002 - `input` is the name of torch.nn.functional

from __future__ import annotations

from torch import Tensor

from pacbench import kernels
from pacbench.kernels.arguments import Window, has_shape
from pacbench.kernels.functional import Size
from pacbench.pac.functional import adapting_options


def pac_conv2d(
    input: Tensor,
    guide: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    kernel_type: str = "gaussian",
    inv_alpha: Tensor | None = None,
    inv_lambda: Tensor | None = None,
    smooth_kernel: Tensor | None = None,
    backend: str = "auto",
) -> Tensor:
    """Pixel-adaptive convolution of ``input`` (B, C, H, W) guided by ``guide`` (B, Cg, H, W).

    ``weight`` (O, C, kh, kw), or (1, 1, kh, kw) for one filter shared by all channels; ``bias``
    (O,). ``kernel_type``, ``inv_alpha``, ``inv_lambda`` as in ``packernel2d``; ``smooth_kernel``
    (1, 1, s, s) smooths f_i. Returns (B, O, Ho, Wo), the size that ``F.conv2d`` gives.
    """
    window = _window_of(weight, stride, padding, dilation)
    return kernels.pac_conv2d(
        input,
        guide,
        weight,
        bias,
        stride,
        padding,
        dilation,
        **adapting_options(
            guide, window, kernel_type, inv_alpha, inv_lambda, smooth_kernel, backend
        ),
    )


def pac_conv_transpose2d(
    input: Tensor,
    guide: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    dilation: Size = 1,
    kernel_type: str = "gaussian",
    inv_alpha: Tensor | None = None,
    inv_lambda: Tensor | None = None,
    smooth_kernel: Tensor | None = None,
    backend: str = "auto",
) -> Tensor:
    """Transposed twin of :func:`pac_conv2d`; ``guide`` (B, Cg, Ho, Wo) has the output's size.

    ``weight`` (C, O, kh, kw) or shared (1, 1, kh, kw). Returns (B, O, Ho, Wo), the size that
    ``F.conv_transpose2d`` gives; for the order of the taps see ``pacconv_transpose2d``.
    """
    window = _window_of(weight, stride, padding, dilation, output_padding, transposed=True)
    return kernels.pac_conv_transpose2d(
        input,
        guide,
        weight,
        bias,
        stride,
        padding,
        output_padding,
        dilation,
        **adapting_options(
            guide, window, kernel_type, inv_alpha, inv_lambda, smooth_kernel, backend
        ),
    )


def pac_pool2d(
    input: Tensor,
    guide: Tensor,
    kernel_size: Size,
    *,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    kernel_type: str = "gaussian",
    inv_alpha: Tensor | None = None,
    inv_lambda: Tensor | None = None,
    smooth_kernel: Tensor | None = None,
    channel_wise: bool = False,
    backend: str = "auto",
) -> Tensor:
    """Pooling twin of :func:`pac_conv2d`: Σ_j K(f_i, f_j) v_j, a sum, channel by channel.

    With ``channel_wise``, channel c of ``guide`` (B, C, H, W) makes the K of channel c of
    ``input`` (B, C, H, W). Returns (B, C, Ho, Wo).
    """
    window = Window.of(kernel_size, stride, padding, dilation)
    return kernels.pac_pool2d(
        input,
        guide,
        kernel_size,
        stride,
        padding,
        dilation,
        channel_wise=channel_wise,
        **adapting_options(
            guide, window, kernel_type, inv_alpha, inv_lambda, smooth_kernel, backend
        ),
    )


def _window_of(
    weight: Tensor,
    stride: Size,
    padding: Size,
    dilation: Size,
    output_padding: Size = 0,
    *,
    transposed: bool = False,
) -> Window:
    has_shape("weight", weight, (None, None, None, None))
    size = weight.shape[2:]
    return Window.of(size, stride, padding, dilation, output_padding, transposed=transposed)
