"""A quotient by a hidden layer of ReLUs: what makes a weighted mean of two sums."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import least_squares
from torch import Tensor, nn

Array = NDArray[np.float64]

LEAST = 0.1
"""The denominators that are fitted are from here to 1."""

POINTS = 41
"""Quotients, and denominators, on which the fit is made."""

STEPS = 50
"""Of the fit; more hardly improve it."""


@torch.no_grad()
def quotient_(hidden: nn.Conv2d, output: nn.Conv2d) -> None:
    """Let two convolutions, with a ReLU between them, give the first channel over the second.

    For channels with 0 ≤ first ≤ second ≤ 1, to about half a percent of that range; the others are
    left out.
    """
    assert hidden.bias is not None  # noqa: S101, all layers here have one
    assert output.bias is not None  # noqa: S101, as above
    inner, outer = fitted_quotient(hidden.out_channels)
    middle = hidden.kernel_size[0] // 2
    for parameter in (hidden.weight, output.weight, output.bias):
        parameter.zero_()
    hidden.weight[:, :2, middle, middle] = inner[:, :2].to(hidden.weight)
    hidden.bias.copy_(inner[:, 2])
    output.weight[0, :, middle, middle] = outer.to(output.weight)


@lru_cache
def fitted_quotient(units: int) -> tuple[Tensor, Tensor]:
    """Inner (units, 3) and outer weights (units): a / b ≈ Σ_k outer_k relu(inner_k · (a, b, 1)).

    Fitted by least squares over all quotients and denominators; those close to 1, as most are where
    a guide is flat, count most. It begins with a / b ≈ a and hinges along b that slant up or down
    with a.
    """
    quotient, step = np.linspace(0, 1, POINTS), np.linspace(0, 1, POINTS)
    wanted, below = (x.ravel() for x in np.meshgrid(quotient, (1 - LEAST) * step**2))
    points = np.stack([wanted * (1 - below), 1 - below, np.ones_like(below)])
    weight = (0.02 + below) ** -0.75
    order = np.arange(units - 1)
    slant = np.where(order % 2 == 0, 0.5, -0.5)
    offset = 1 - (1 - LEAST) * order / (units - 1) - slant.clip(min=0)
    hinges = np.stack([slant, -np.ones_like(slant), offset], axis=1)
    start = np.concatenate([[1, 0, 0], hinges.ravel(), np.arange(units) == 0])

    def error(weights: Array) -> Array:
        inner, outer = weights[: 3 * units].reshape(units, 3), weights[3 * units :]
        made: Array = outer @ (inner @ points).clip(min=0)
        return weight * (made - wanted)

    def slope(weights: Array) -> Array:
        inner, outer = weights[: 3 * units].reshape(units, 3), weights[3 * units :]
        hidden = inner @ points
        active = weight * (hidden > 0)
        by_inner = (outer[:, None] * active)[:, None] * points
        return np.concatenate([by_inner.reshape(3 * units, -1), active * hidden]).T

    fit = least_squares(error, start, slope, max_nfev=STEPS).x
    inner, outer = fit[: 3 * units].reshape(units, 3), fit[3 * units :]
    return torch.from_numpy(inner), torch.from_numpy(outer)
