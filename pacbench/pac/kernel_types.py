"""Adapting kernels and the smoothing of their centre, by the names of the paper's release."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from pacbench.kernels.reference import KernelType

KERNEL_TYPES = "'gaussian' or 'inv_{alpha}_{lambda}[_asym][_fixed]' (for example 'inv_0.2_3_asym')"
SMOOTH_KERNEL_TYPES = "'none', 'gaussian', 'average_{size}' or 'full_{size}', size odd"


@dataclass(frozen=True)
class AdaptingKernelType:
    """A parsed ``kernel_type``.

    ``inv`` is the paper's detail-preserving kernel, computed as the release does it:
    ``alpha + (|f_i − f_j|² + 1e-4)^(lambda / 2)``. (The paper's text has the exponent lambda and
    epsilon squared; weights trained with the release carry over only with this form.)
    """

    family: KernelType = "gaussian"
    inv_alpha: float = 0.0
    inv_lambda: float = 0.0
    asym: bool = False
    fixed: bool = False


@dataclass(frozen=True)
class SmoothKernelType:
    """A parsed ``smooth_kernel_type``: what f_i is averaged with before it is compared with f_j."""

    family: Literal["none", "gaussian", "average", "full"] = "none"
    size: int = 1

    @property
    def learned(self) -> bool:
        return self.family == "full"

    def initial_filter(self) -> Tensor:
        """The smoothing filter (1, 1, size, size); that of 'full' is where learning starts."""
        if self.family == "gaussian":
            line = torch.tensor([0.25, 0.5, 0.25])
        else:
            line = torch.full((self.size,), 1.0 / self.size)
        return torch.outer(line, line)[None, None]


def parse_kernel_type(kernel_type: str) -> AdaptingKernelType:
    """Reads 'gaussian' or 'inv_{alpha}_{lambda}[_asym][_fixed]'; ValueError for anything else."""
    if kernel_type == "gaussian":
        return AdaptingKernelType()
    family, *values = kernel_type.split("_")
    numbers, flags = values[:2], values[2:]
    if family == "inv" and len(numbers) == 2 and sorted(set(flags)) == sorted(flags):
        try:
            alpha, power = float(numbers[0]), float(numbers[1])
        except ValueError:
            alpha = power = math.nan
        if math.isfinite(alpha) and math.isfinite(power) and set(flags) <= {"asym", "fixed"}:
            return AdaptingKernelType("inv", alpha, power, "asym" in flags, "fixed" in flags)
    raise ValueError(f"kernel_type is '{kernel_type}'; allowed: {KERNEL_TYPES}")


def parse_smooth_kernel_type(smooth_kernel_type: str) -> SmoothKernelType:
    """Reads 'none', 'gaussian', 'average_{size}' or 'full_{size}'; ValueError for anything else."""
    if smooth_kernel_type == "none":
        return SmoothKernelType()
    if smooth_kernel_type == "gaussian":
        return SmoothKernelType("gaussian", 3)
    family, _, size = smooth_kernel_type.partition("_")
    if size.isdecimal() and int(size) % 2 == 1:
        if family == "average":
            return SmoothKernelType("average", int(size))
        if family == "full":
            return SmoothKernelType("full", int(size))
    raise ValueError(
        f"smooth_kernel_type is '{smooth_kernel_type}'; allowed: {SMOOTH_KERNEL_TYPES}"
    )
