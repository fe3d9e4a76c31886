"""Fillers: how the weights of a PAC layer begin, by the names and values of the paper's release."""

from __future__ import annotations

import math

import torch
from torch import Tensor

LEARNED_FILLERS = ("uniform", "linear", "crf", "crf_perturbed")
FIXED_FILLERS = ("pool", "crf_pool")  # filters that are not learned, and so not parameters
CRF_PERTURBATION = 1e-3


def check_filler(
    filler: str, in_channels: int, out_channels: int, *, shared: bool, transposed: bool
) -> None:
    """Raises ValueError for a filler that there is not or that the layer cannot have."""
    if filler not in LEARNED_FILLERS + FIXED_FILLERS:
        known = ", ".join(LEARNED_FILLERS + FIXED_FILLERS)
        raise ValueError(f"filler is '{filler}'; allowed: {known}")
    if in_channels != out_channels and (shared or filler != "uniform"):
        raise ValueError(
            f"in_channels is {in_channels} and out_channels {out_channels}; "
            f"{'shared_filters' if shared else f'filler {filler!r}'} needs them to be equal"
        )
    if filler in FIXED_FILLERS and not shared:
        raise ValueError(f"filler '{filler}' needs shared_filters=True")
    if filler == "linear" and not transposed:
        raise ValueError("filler 'linear' interpolates; it needs PacConvTranspose2d")


@torch.no_grad()
def fill_(
    weight: Tensor,
    bias: Tensor | None,
    filler: str,
    *,
    stride: tuple[int, int],
    in_channels: int,
    shared: bool,
    normalized: bool,
) -> None:
    """Overwrites ``weight`` and ``bias`` as ``filler`` says; bias 0 but for 'uniform'."""
    if bias is not None:
        bias.zero_()
    match filler:
        case "uniform":
            # nn.Conv2d's bound; the release takes it in_channels times larger for shared filters.
            bound = 1 / math.sqrt(in_channels * weight.shape[2] * weight.shape[3])
            bound *= in_channels if shared else 1
            weight.uniform_(-bound, bound)
            if bias is not None:
                bias.uniform_(-bound, bound)
        case "linear":
            weight.copy_(linear_filter(weight, stride, normalized=normalized))
        case "crf" | "crf_perturbed":
            weight.copy_(crf_filter(weight, shared=shared))
            if filler == "crf_perturbed":
                weight.add_((torch.rand_like(weight) - 0.5) * CRF_PERTURBATION)
        case "pool" | "crf_pool":
            weight.fill_(1)
            if filler == "crf_pool":
                weight[:, :, weight.shape[2] // 2, weight.shape[3] // 2] = 0


def gaussian_filter(size: int) -> Tensor:
    """A Gaussian (size, size) of sigma size / 4 that sums to size²."""
    offsets = torch.arange(size, dtype=torch.float64) - size // 2
    line = torch.exp(-0.5 * (offsets / (size / 4)) ** 2)
    line *= size / line.sum()
    return torch.outer(line, line)


def crf_filter(weight: Tensor, *, shared: bool) -> Tensor:
    """What a mean-field step starts from, for ``weight`` (L, L, k, k) or shared (1, 1, k, k).

    A Gaussian without its centre (a pixel sends itself no message), between any two different
    labels unless ``shared``.
    """
    labels, _, height, width = weight.shape
    if height != width:
        raise ValueError(f"kernel_size is ({height}, {width}); a 'crf' filler needs a square one")
    spatial = gaussian_filter(height)
    spatial[height // 2, width // 2] = 0
    compatibility = torch.ones(1, 1) if shared else 1 - torch.eye(labels)
    return compatibility[:, :, None, None] * spatial


def linear_filter(weight: Tensor, stride: tuple[int, int], *, normalized: bool) -> Tensor:
    """Linear interpolation for a transposed layer's ``weight`` (C, C, kh, kw) or (1, 1, kh, kw).

    With ``normalized`` each tap is raised by the number of input pixels that its window sees, which
    is what normalising a constant K divides by.
    """
    lines = []
    for size, step in zip(weight.shape[2:], stride, strict=True):
        if size < 2 * step - 1:
            raise ValueError(
                f"kernel_size is {size} for stride {step}; filler 'linear' needs at least "
                f"2 * stride - 1 = {2 * step - 1}"
            )
        tap = torch.arange(size)
        line = (1 - (tap - size // 2).abs().double() / step).clamp(min=0)
        if normalized:
            line *= (size - 1 - tap) // step + tap // step + 1
        lines.append(line)
    same_channel = torch.eye(weight.shape[0], dtype=torch.float64)
    return same_channel[:, :, None, None] * torch.outer(*lines)
