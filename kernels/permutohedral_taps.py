"""Filters on the permutohedral lattice: where their taps lie, and the taps of a Gaussian.

From a lattice point, D + 1 axes lead to its nearest neighbours: axis j is a step of −1 in every
coordinate, but +D in the j-th. All axes together lead back to where one started. So the points
within n steps are those reached by a_j ∈ {0, …, n} steps along each axis j with at least one
a_j = 0: (n+1)^(D+1) − n^(D+1) of them. For every a, −a is reached too, by max(a) − a steps.
"""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor

MAX_TAPS = 1 << 20


def count(dimensions: int, neighbourhood: int) -> int:
    """How many taps a filter has: the number of lattice points within ``neighbourhood`` steps."""
    return int((neighbourhood + 1) ** (dimensions + 1) - neighbourhood ** (dimensions + 1))


def steps(dimensions: int, neighbourhood: int) -> Tensor:
    """Steps along each axis to each tap (taps, D + 1), in the order of the filter's taps.

    Tap 0 is the point itself; taps 2k − 1 and 2k lie opposite each other.
    """
    axes = dimensions + 1
    ordered: list[tuple[int, ...]] = [(0,) * axes]
    for tap in itertools.product(range(neighbourhood + 1), repeat=axes):
        opposite = tuple(max(tap) - a for a in tap)
        if min(tap) == 0 and tap > opposite:
            ordered += [tap, opposite]
    return torch.tensor(ordered)


def offsets(axis_steps: Tensor) -> Tensor:
    """Steps (n, D + 1) along the axes as differences of the first D coordinates (n, D)."""
    axes = axis_steps.shape[1]
    return (axis_steps * axes - axis_steps.sum(1, keepdim=True))[:, :-1]


def opposite(weight: Tensor) -> Tensor:
    """``weight`` (C, taps) with opposite taps exchanged: the filter of the transpose."""
    pairs = weight[:, 1:].reshape(len(weight), -1, 2).flip(2)
    return torch.cat([weight[:, :1], pairs.flatten(1)], dim=1)


def blur_scale(dimensions: int) -> float:
    """What the blur is multiplied by, as in the implementation of Krähenbühl & Koltun."""
    return float(1 / (1 + 2.0**-dimensions))


def gaussian_weight(
    dimensions: int, neighbourhood: int = 1, dtype: torch.dtype = torch.float32
) -> Tensor:
    """The filter (1, taps) that training starts from: the taps of the Gaussian blur.

    The blur (½, 1, ½) along all D + 1 axes reaches 2 steps far. With ``neighbourhood=2`` the filter
    is that blur, where all lattice points exist. With 1 it is cut off, and made as strong again:
    its Gaussian is narrower, with a standard deviation of :func:`gaussian_deviation`.
    """
    near = steps(dimensions, neighbourhood)
    # Going round by t steps along all axes leads to the same point.
    around = near[:, None, :] + torch.arange(-neighbourhood, 2)[:, None]
    line = torch.tensor([1.0, 0.5, 0.0], dtype=torch.float64)
    response = line[around.abs().clamp(max=2)].prod(2).sum(1)
    strength = 2.0 ** (dimensions + 1) * blur_scale(dimensions)
    return (response * (strength / response.sum()))[None].to(dtype)


def gaussian_deviation(dimensions: int, neighbourhood: int = 1) -> float:
    """Standard deviation of splat, :func:`gaussian_weight` and slice, in units of the features.

    Multiply features by it to get a Gaussian of standard deviation 1 again.
    """
    axes = dimensions + 1
    near = steps(dimensions, neighbourhood).double()
    squared = axes * (axes * near.square().sum(1) - near.sum(1).square())
    weight = gaussian_weight(dimensions, neighbourhood, torch.float64)[0]
    blur_variance = float((weight * squared).sum() / weight.sum()) / dimensions
    interpolation_variance = axes**2 / 6  # of splat and slice
    return math.sqrt((blur_variance + interpolation_variance) / (axes**2 * 2 / 3))
