"""What happens in the window around a pixel before K meets it: unfolding, smoothing, masks."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from pacbench.kernels.arguments import Window, has_shape, images
from pacbench.kernels.autocast import float32_under_autocast
from pacbench.kernels.reference import same_padding, spread_for_transpose, unfold_windows


def guide_window(window: Window) -> Window:
    """Where the taps lie on the guide: for a transposed layer, around the pixels of its output."""
    if not window.transposed:
        return window
    padding = same_padding(window.kernel_size, window.dilation)
    return Window(window.kernel_size, (1, 1), padding, window.dilation)


def unfold(image: Tensor, window: Window) -> Tensor:
    """What each tap sees of ``image`` (B, C, H, W), zero outside it: (B, C, kh, kw, Ho, Wo)."""
    kernel_size, stride, padding, dilation, output_padding, transposed = window
    if transposed:
        image = spread_for_transpose(image, kernel_size, stride, padding, output_padding, dilation)
        stride, padding = (1, 1), (0, 0)
    return unfold_windows(image, kernel_size, stride, padding, dilation)


@float32_under_autocast
def smooth_centre(guide: Tensor, smooth_kernel: Tensor, window: Window) -> Tensor:
    """f_i of every window of ``guide`` (B, C, H, W), smoothed: (B, C, Ho, Wo).

    ``smooth_kernel`` (1, 1, sh, sw), sh and sw odd, filters each channel around the middle pixel of
    the window. The release leaves dilation out of the middle's place and fails unless it is 1; here
    the middle is right for any dilation.
    """
    images("guide", guide)
    has_shape("smooth_kernel", smooth_kernel, (1, 1, None, None))
    if any(size % 2 == 0 for size in smooth_kernel.shape):
        raise ValueError(
            f"smooth_kernel has shape {tuple(smooth_kernel.shape)}; expected odd sizes"
        )
    window.output_size(guide.shape[2:])  # raises where no window fits
    sides: list[int] = []
    for k, p, d, s in zip(
        window.kernel_size, window.padding, window.dilation, smooth_kernel.shape[2:], strict=True
    ):
        # Half the window minus half the filter is cut off (or added) at either end.
        margin = p - (d * (k - 1) - (s - 1)) // 2
        sides = [margin, margin, *sides]  # F.pad counts from the last axis
    planes = F.pad(guide, sides).flatten(0, 1).unsqueeze(1)
    smoothed = F.conv2d(planes, smooth_kernel, stride=window.stride)
    return smoothed.view(*guide.shape[:2], *smoothed.shape[2:])


def filtered_size(guide: Tensor, window: Window) -> tuple[int, int]:
    """Size (H, W) of what a layer filters, from that of its ``guide``.

    Raises ValueError if a transposed layer makes no output of the guide's size.
    """
    height, width = guide.shape[2:]
    if not window.transposed:
        return height, width
    sizes = []
    for n, k, s, p, d, extra in zip((height, width), *window[:5], strict=True):
        steps, rest = divmod(n - extra - 1 - d * (k - 1) + 2 * p, s)
        if rest or steps < 0:
            raise ValueError(
                f"guide has size ({height}, {width}); no input gives a transposed layer with "
                f"kernel_size {window.kernel_size}, stride {window.stride}, padding "
                f"{window.padding}, output_padding {window.output_padding} and dilation "
                f"{window.dilation} an output of that size, which the guide must have"
            )
        sizes.append(steps + 1)
    return sizes[0], sizes[1]


def weigh_kernel(
    kernel: Tensor, inside: Tensor, valid: Tensor | None, *, normalize: bool
) -> tuple[Tensor, Tensor | None]:
    """Leave invalid taps out of K and make up for them.

    ``kernel`` (B, 1 or C, kh, kw, Ho, Wo); ``inside`` (1, 1, kh, kw, Ho, Wo): 1 where a tap is in
    the image; ``valid``, of the same axes: the mask seen by each tap, or None where all of the
    image is valid.

    K is multiplied by ``valid``, then divided by its sum over the window (``normalize``), or else
    by the share of the window's taps in the image that is valid. Windows without a valid tap get
    K = 0. Returns K and, with a mask, the output mask (B, 1 or C, 1, 1, Ho, Wo), uint8, 1 where the
    window had a valid tap.
    """
    taps = inside if valid is None else valid
    kernel = kernel * taps
    if normalize:
        norm = kernel.sum(dim=(2, 3), keepdim=True)
    else:
        # A window wholly outside the image has no taps at all: 0 of at least 1.
        count = inside.sum(dim=(2, 3), keepdim=True).clamp(min=1)
        norm = taps.sum(dim=(2, 3), keepdim=True) / count
    empty = norm == 0
    kernel = kernel / norm.masked_fill(empty, 1)
    return kernel, None if valid is None else (~empty).to(torch.uint8)
