"""The permutohedral lattice in plain torch: the specification of the native operators.

Differentiable by values and weight by torch's own means; the lattice itself is a constant.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

MAX_FEATURE = float(1 << 15)


class Lattice(NamedTuple):
    """M lattice points, and how the P pixels of a batch lie between them.

    Attributes:
        keys: (M, D + 1) the first D coordinates of each point (the last is minus their sum), and
            the image it belongs to.
        corners: (P, D + 1) lattice points of the simplex around each pixel.
        barycentric: (P, D + 1) their weights, which sum to 1.
    """

    keys: Tensor
    corners: Tensor
    barycentric: Tensor


def check_range(features: Tensor) -> None:
    """Raises ValueError for features that have no place on a lattice."""
    low, high = (float(extreme) for extreme in features.aminmax())
    if not (low >= -MAX_FEATURE and high <= MAX_FEATURE):
        raise ValueError(
            f"features lie between {low:g} and {high:g}; expected finite numbers between "
            f"{-MAX_FEATURE:g} and {MAX_FEATURE:g}, in standard deviations of the Gaussian"
        )


def build(features: Tensor) -> Lattice:
    """The lattice around ``features`` (B, D, H, W); see Adams et al. 2010, section 3."""
    check_range(features)
    d = features.shape[1]
    position = embed(features.movedim(1, -1).reshape(-1, d))
    nearest = torch.round(position / (d + 1))
    remainder = position - nearest * (d + 1)
    rank = torch.argsort(torch.argsort(remainder, dim=1, descending=True, stable=True), dim=1)
    # The rounded point may lie off the plane: move the coordinates that were rounded furthest.
    rank = rank + nearest.sum(1, keepdim=True).long()
    turn = (rank < 0).long() - (rank > d).long()
    rank, nearest = rank + turn * (d + 1), nearest + turn
    remainder = (remainder - turn * (d + 1)) / (d + 1)

    ordered = torch.empty_like(remainder).scatter_(1, rank, remainder)
    barycentric = ordered.flip(1) - ordered.flip(1).roll(1, 1)
    barycentric[:, 0] += 1
    corner = torch.arange(d + 1, device=features.device)[:, None]  # its coordinates modulo D + 1
    coordinates = nearest.long()[:, None] * (d + 1) + corner
    coordinates -= (rank[:, None] > d - corner) * (d + 1)

    image = torch.arange(features.shape[0], device=features.device)
    image = image.repeat_interleave(features.shape[2] * features.shape[3] * (d + 1))
    rows = torch.cat([coordinates[..., :-1].reshape(-1, d), image[:, None]], dim=1)
    _, corners = torch.unique(_codes(rows), return_inverse=True)
    keys = rows.new_empty((int(corners.max()) + 1, d + 1))
    keys[corners] = rows
    return Lattice(keys, corners.view(-1, d + 1), barycentric)


def scaled(lattice: Lattice, factor: Tensor) -> Lattice:
    """The lattice on which pixels count by ``factor`` (P,), when splatted and when sliced."""
    return lattice._replace(barycentric=lattice.barycentric * factor[:, None])


def embed(features: Tensor) -> Tensor:
    """Features (P, D) in the lattice's plane (P, D + 1), where the blur is sqrt(2/3)·(D+1) wide."""
    d = features.shape[1]
    index = torch.arange(d, device=features.device, dtype=features.dtype)
    scaled = features * (math.sqrt(2 / 3) * (d + 1) / ((index + 1) * (index + 2)).sqrt())
    later = scaled.flip(1).cumsum(1).flip(1)  # Σ_{i ≥ j}
    zero = torch.zeros_like(scaled[:, :1])
    return torch.cat([later, zero], dim=1) - torch.cat([zero, scaled * (index + 1)], dim=1)


def neighbours(lattice: Lattice, offsets: Tensor) -> Tensor:
    """Points at key + offset and key − offset (n, M, 2), M where there is none; offsets (n, D)."""
    points = len(lattice.keys)
    pairs = torch.stack([offsets, -offsets], dim=1).to(lattice.keys)
    pairs = torch.nn.functional.pad(pairs, (0, 1))  # the image stays
    sought = lattice.keys[None, :, None] + pairs[:, None]
    codes = _codes(torch.cat([lattice.keys, sought.flatten(0, 2)]))
    known, order = codes[:points].sort()
    at = torch.searchsorted(known, codes[points:]).clamp(max=points - 1)
    found = torch.where(known[at] == codes[points:], order[at], points)
    return found.view(sought.shape[:3])


def blur(values: Tensor, lattice: Lattice, axes: Tensor, scale: float) -> Tensor:
    """Splat, blur (½, 1, ½) along each axis, slice: (B, C, H, W); axes (D + 1, M, 2)."""
    points = _splat(values, lattice)
    for axis in axes:
        points = points + _with_zero(points)[axis].sum(1) / 2
    return _slice(points * scale, lattice, values)


def convolve(values: Tensor, weight: Tensor, lattice: Lattice, taps: Tensor) -> Tensor:
    """Splat, filter, slice: weight (1 or C, 1 + 2n), taps (n, M, 2)."""
    points = _splat(values, lattice)
    padded = _with_zero(points)
    filtered = points * weight[:, 0]
    for index, pair in enumerate(taps):
        filtered = filtered + padded[pair[:, 0]] * weight[:, 2 * index + 1]
        filtered = filtered + padded[pair[:, 1]] * weight[:, 2 * index + 2]
    return _slice(filtered, lattice, values)


def _splat(values: Tensor, lattice: Lattice) -> Tensor:
    """(B, C, H, W) to lattice points (M, C)."""
    pixels = values.movedim(1, -1).flatten(0, 2)
    points = pixels.new_zeros(len(lattice.keys), pixels.shape[1])
    for corner, weight in zip(lattice.corners.T, lattice.barycentric.T, strict=True):
        points = points.index_add(0, corner, pixels * weight[:, None])
    return points


def _slice(points: Tensor, lattice: Lattice, like: Tensor) -> Tensor:
    """Lattice points (M, C) to images of the size of ``like``."""
    pixels = points.new_zeros(len(lattice.corners), points.shape[1])
    for corner, weight in zip(lattice.corners.T, lattice.barycentric.T, strict=True):
        pixels = pixels + points[corner] * weight[:, None]
    batch, channels, height, width = like.shape
    return pixels.view(batch, height, width, channels).movedim(-1, 1).contiguous()


def _with_zero(points: Tensor) -> Tensor:
    """One more row, which stands for all points that do not exist."""
    return torch.nn.functional.pad(points, (0, 0, 0, 1))


def _codes(rows: Tensor) -> Tensor:
    """One number per row of integers (n, D): the same for the same row, else different."""
    codes = torch.zeros_like(rows[:, 0])
    values = 1
    for column in rows.T:
        low, high = column.aminmax()
        span = int(high - low) + 1
        if values * span >= 1 << 62:
            codes = torch.unique(codes, return_inverse=True)[1]
            values = len(rows)
        codes = codes * span + (column - low)
        values *= span
    return codes
