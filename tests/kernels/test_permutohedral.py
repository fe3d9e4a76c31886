"""The permutohedral filter against its definition, brute-force Gaussians and pydensecrf."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
import torch
from pydensecrf import densecrf
from torch import Tensor

from pacbench.kernels import PermutohedralLattice, gaussian_weight, permutohedral_filter
from pacbench.kernels import permutohedral_reference as reference
from pacbench.kernels import permutohedral_taps as taps

BACKENDS = ["reference", "native"]
Point = tuple[int, ...]


def corners(position: list[float]) -> dict[Point, float]:
    """Lattice points around a position in the plane, by the hat function of their simplices.

    Points have D + 1 coordinates that are congruent modulo D + 1 and sum to 0; the weight of one at
    difference δ is 1 − (max δ − min δ) / (D + 1).
    """
    size, found = len(position), {}
    for remainder in range(size):
        below = [math.floor((y - remainder) / size) for y in position]
        near = [[(k + i) * size + remainder for i in (0, 1)] for k in below]
        for point in itertools.product(*near):
            difference = [y - p for y, p in zip(position, point, strict=True)]
            weight = 1 - (max(difference) - min(difference)) / size
            if sum(point) == 0 and weight > 0:
                found[point] = weight
    return found


def moved(point: Point, steps: list[int]) -> Point:
    """``steps`` along each axis: −1 in all coordinates but +D in its own."""
    return tuple(p + len(point) * s - sum(steps) for p, s in zip(point, steps, strict=True))


def filter_by_hand(features: Tensor, values: Tensor, weight: Tensor | None) -> Tensor:
    """Splat, blur or convolve, and slice with dictionaries; features (D, P), values (P,)."""
    d = features.shape[0]
    pixels = [corners(position.tolist()) for position in reference.embed(features.T)]
    points: dict[Point, float] = defaultdict(float)
    for around, value in zip(pixels, values.tolist(), strict=True):
        for point, share in around.items():
            points[point] += share * value
    if weight is None:
        for axis in torch.eye(d + 1, dtype=torch.int64):
            step, back = axis.tolist(), (-axis).tolist()
            points = {
                p: v + (points.get(moved(p, step), 0) + points.get(moved(p, back), 0)) / 2
                for p, v in points.items()
            }
        points = {p: v / (1 + 2.0**-d) for p, v in points.items()}
    else:
        near = list(zip(taps.steps(d, 1).tolist(), weight.tolist(), strict=True))
        points = {p: sum(w * points.get(moved(p, s), 0) for s, w in near) for p in list(points)}
    return torch.tensor([sum(points[p] * share for p, share in a.items()) for a in pixels]).double()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_filter_is_its_definition(d: int, learned: bool, backend: str) -> None:
    features = torch.randn(1, d, 3, 4, dtype=torch.float64) * 1.5
    values = torch.randn(1, 1, 3, 4, dtype=torch.float64)
    weight = torch.randn(1, taps.count(d, 1), dtype=torch.float64) if learned else None
    expected = filter_by_hand(
        features[0].flatten(1), values.flatten(), None if weight is None else weight[0]
    )
    actual = permutohedral_filter(features, values, weight, backend=backend)
    torch.testing.assert_close(actual.flatten(), expected, rtol=1e-5, atol=1e-5)


def test_embedding_keeps_distances_and_lies_in_the_plane() -> None:
    features = torch.randn(20, 5, dtype=torch.float64)
    position = reference.embed(features)
    torch.testing.assert_close(position.sum(1), torch.zeros(20, dtype=torch.float64))
    scale = math.sqrt(2 / 3) * 6
    torch.testing.assert_close(torch.pdist(position), torch.pdist(features) * scale)


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("neighbourhood", [0, 1, 2])
def test_taps_are_all_points_within_reach_in_opposite_pairs(d: int, neighbourhood: int) -> None:
    offsets = taps.offsets(taps.steps(d, neighbourhood))
    assert len(offsets) == taps.count(d, neighbourhood)
    assert len(offsets.unique(dim=0)) == len(offsets)
    assert not offsets[0].any()
    torch.testing.assert_close(offsets[1::2], -offsets[2::2])


@pytest.mark.parametrize(("d", "side"), [(1, 81), (2, 41), (3, 17)])
def test_gaussian_weight_of_two_steps_is_the_blur(d: int, side: int) -> None:
    """Where the lattice is complete: far from the borders of a dense field of features."""
    axis = torch.linspace(-4, 4, side, dtype=torch.float64)
    features = torch.stack(torch.meshgrid(*[axis] * d, indexing="ij")).reshape(1, d, side, -1)
    values = torch.rand(1, 2, *features.shape[2:], dtype=torch.float64)
    inner = features[0].abs().amax(0) < 1
    lattice = PermutohedralLattice(features)
    learned = lattice.filter(values, gaussian_weight(d, 2, torch.float64), neighbourhood=2)
    torch.testing.assert_close(learned[..., inner], lattice.filter(values)[..., inner])


@pytest.mark.parametrize("neighbourhood", [1, 2])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_gaussian_deviation_is_that_of_the_filter(d: int, neighbourhood: int) -> None:
    """Variances add up: of the splat and the slice, here at random features, and of the taps."""
    features = torch.rand(4000, d, dtype=torch.float64) * 50
    lattice = reference.build(features.T.reshape(1, d, 1, -1))
    first = lattice.keys[:, :-1].double()
    points = torch.cat([first, -first.sum(1, keepdim=True)], dim=1)[lattice.corners]
    away = (points - reference.embed(features)[:, None]).square().sum(2)
    splat = float((away * lattice.barycentric).sum(1).mean())
    steps = taps.steps(d, neighbourhood)
    weight = gaussian_weight(d, neighbourhood, torch.float64)[0]
    squared = ((d + 1) * steps - steps.sum(1, keepdim=True)).square().sum(1)
    blur = float((weight * squared).sum() / weight.sum())
    deviation = math.sqrt((2 * splat + blur) / d) / (math.sqrt(2 / 3) * (d + 1))
    assert taps.gaussian_deviation(d, neighbourhood) == pytest.approx(deviation, rel=0.02)


def scene(height: int, width: int) -> Tensor:
    """RGB levels (1, 3, H, W): two coloured areas and a gradient, with noise."""
    y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    area = ((y + x) > (height + width) / 2).double()
    image = torch.stack([60 + 120 * area, 200 - 100 * area, 100 + 2.0 * x])
    return (image + 4 * torch.randn_like(image)).clamp(0, 255).round()[None]


def features_of(image: Tensor, alpha: float, beta: float | None) -> Tensor:
    """(x, y, r, g, b) over the standard deviations, in pydensecrf's order; (x, y) without beta."""
    y, x = torch.meshgrid(*(torch.arange(n) for n in image.shape[2:]), indexing="ij")
    position = torch.stack([x, y])[None].to(image.dtype) / alpha
    return position if beta is None else torch.cat([position, image / beta], dim=1)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("beta", "weighted", "bound"),
    [(None, False, 0.025), (20.0, False, 0.015), (None, True, 0.04), (20.0, True, 0.02)],
)
def test_filter_is_nearly_gaussian(
    beta: float | None, weighted: bool, bound: float, backend: str
) -> None:
    """An image smoothed by itself: root-mean-square error over the deviation of the exact result.

    Measured: 1.6 % on (x, y) and 1.0 % on (x, y, r, g, b); 2.7 % and 1.4 % with learned filters of
    one step at their initial value.
    """
    image = scene(30, 40)
    features = features_of(image, 4.0, beta)
    values = image + 40 * torch.randn_like(image)
    flat = features[0].flatten(1).T
    kernel = torch.exp(-0.5 * torch.cdist(flat, flat).square())
    exact = (kernel @ values[0].flatten(1).T / kernel.sum(1, keepdim=True)).T.view_as(values)
    d = features.shape[1]
    weight = gaussian_weight(d, dtype=torch.float64) if weighted else None
    if weighted:
        features = features * taps.gaussian_deviation(d)
    lattice = PermutohedralLattice(features, backend=backend)
    filtered = lattice.filter(values, weight) / lattice.filter(torch.ones_like(values), weight)
    error = (filtered - exact).square().mean().sqrt() / exact.std()
    assert error < bound


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("beta", [None, 10.0])
def test_filter_is_pydensecrfs(beta: float | None, backend: str) -> None:
    """Its message from one mean-field step without normalisation, up to a constant per pixel."""
    height, width, labels, weight = 30, 40, 5, 0.01
    image = scene(height, width).float()
    logits = torch.randn(1, labels, height, width)
    energy = np.ascontiguousarray(-logits.log_softmax(1)[0].flatten(1).numpy())
    crf = densecrf.DenseCRF2D(width, height, labels)
    crf.setUnaryEnergy(energy)
    plain = {"compat": weight, "normalization": densecrf.NO_NORMALIZATION}
    if beta is None:
        crf.addPairwiseGaussian(sxy=4.0, **plain)
    else:
        rgb = np.ascontiguousarray(image[0].permute(1, 2, 0).numpy().astype(np.uint8))
        crf.addPairwiseBilateral(sxy=4.0, srgb=beta, rgbim=rgb, **plain)
    log_q = np.log(np.asarray(crf.inference(1))) + energy
    message = torch.from_numpy(log_q).view(1, labels, height, width) / weight
    ours = permutohedral_filter(features_of(image, 4.0, beta), logits.softmax(1), backend=backend)
    difference = (message - message.mean(1, keepdim=True)) - (ours - ours.mean(1, keepdim=True))
    assert difference.abs().max() < 2e-4 * ours.abs().max()


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("no batch axis", {"features": torch.zeros(2, 3, 4)}, r"features has shape \(2, 3, 4\)"),
    ("empty", {"features": torch.zeros(1, 2, 0, 4)}, r"features has shape \(1, 2, 0, 4\)"),
    ("integers", {"features": torch.zeros(1, 2, 3, 4).int()}, "features has dtype torch.int32"),
    ("too wide", {"features": torch.zeros(1, 17, 3, 4)}, "at most 16 channels"),
    ("nan", {"features": torch.full((1, 2, 3, 4), torch.nan)}, "features lie between nan and nan"),
    ("infinite", {"features": torch.full((1, 2, 3, 4), torch.inf)}, "features lie between inf"),
    ("far", {"features": torch.full((1, 2, 3, 4), 1e6)}, r"features lie between 1e\+06"),
    ("other size", {"values": torch.zeros(1, 2, 3, 5)}, r"values has shape \(1, 2, 3, 5\)"),
    ("other batch", {"values": torch.zeros(2, 2, 3, 4)}, r"expected \(1, any, 3, 4\)"),
    ("other dtype", {"values": torch.zeros(1, 2, 3, 4).double()}, "values has dtype torch.float64"),
    (
        "short filter",
        {"weight": torch.zeros(1, 6)},
        r"weight has shape \(1, 6\); .* \(1, 7\)",
    ),
    ("odd channels", {"weight": torch.zeros(3, 7)}, r"expected \(1, 7\) or \(2, 7\)"),
    ("negative", {"weight": torch.zeros(1, 1), "neighbourhood": -1}, "neighbourhood is -1"),
    ("huge", {"weight": torch.zeros(1, 1), "neighbourhood": 5000}, "neighbourhood is 5000"),
    ("backend", {"backend": "nativ"}, "did you mean 'native'"),
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("changes", "message"), [pytest.param(*b[1:], id=b[0]) for b in BAD])
def test_wrong_arguments_are_named(changes: dict[str, Any], message: str, backend: str) -> None:
    good = {"features": torch.zeros(1, 2, 3, 4), "values": torch.zeros(1, 2, 3, 4)}
    with pytest.raises(ValueError, match=message):
        permutohedral_filter(**{**good, "backend": backend, **changes})


def test_wrong_factors_are_named() -> None:
    lattice = PermutohedralLattice(torch.zeros(1, 2, 3, 4))
    with pytest.raises(
        ValueError, match=r"factor has shape \(1, 2, 3, 4\); expected \(1, 1, 3, 4\)"
    ):
        lattice.scaled(torch.ones(1, 2, 3, 4))


@pytest.mark.parametrize("backend", BACKENDS)
def test_scaled_multiplies_before_and_after(backend: str) -> None:
    lattice = PermutohedralLattice(torch.randn(2, 3, 4, 5).double(), backend=backend)
    values, factor = torch.randn(2, 2, 4, 5).double(), torch.rand(2, 1, 4, 5).double()
    torch.testing.assert_close(
        lattice.scaled(factor).filter(values), factor * lattice.filter(factor * values)
    )


def test_codes_tell_rows_apart_beyond_64_bits() -> None:
    rows = torch.randint(-(2**20), 2**20, (50, 9))
    rows = torch.cat([rows, rows[:10]])
    codes = reference._codes(rows)
    assert len(codes.unique()) == 50
    torch.testing.assert_close(codes[:10], codes[50:])
