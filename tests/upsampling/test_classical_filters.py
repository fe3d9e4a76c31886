"""Classical upsampling against loops over pixels, dense solutions and the properties it has."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from pacbench import kernels
from pacbench.baselines.upsampling.gf import guided_filter
from pacbench.baselines.upsampling.jbu import joint_bilateral_upsample
from pacbench.baselines.upsampling.mrf import mrf
from pacbench.baselines.upsampling.pixel_graph import (
    EIGHT_NEIGHBOURS,
    LEAST_SIMILARITY,
    squared_differences,
)
from pacbench.baselines.upsampling.sampling import grow, sample_offset, sampling_matrix
from pacbench.baselines.upsampling.sdf import SDFilterParams, sd_filter
from pacbench.data.base import Sample
from pacbench.method import Method, methods
from pacbench.protocols.lowres import Mode

Array = NDArray[np.float32]
Build = Callable[..., Method]
RNG = np.random.default_rng(0)

CLASSICAL = [
    name
    for name in methods
    if methods[name].info.task == "upsample" and not methods[name].info.learnable
]
KEEP_RANGE = [name for name in CLASSICAL if name not in ("bicubic", "gf")]
GUIDED = ["fbs", "gf", "jbu", "mrf", "sdf"]


def random(*shape: int) -> Array:
    return RNG.random(shape, np.float32)


def upsampled(method: Method, low: Array, guide: Array) -> Array:
    output: Array = method.upsample(torch.from_numpy(low), torch.from_numpy(guide)).numpy()
    return output


def two_halves(height: int, width: int, edge: int) -> Array:
    """(3, H, W) guide: dark left of the edge, bright from it on."""
    guide = np.zeros((3, height, width), np.float32)
    guide[:, :, edge:] = 0.8
    return guide


def test_there_are_eight() -> None:
    assert sorted([*GUIDED, "nearest", "bilinear", "bicubic"]) == CLASSICAL


@pytest.mark.parametrize("name", CLASSICAL)
def test_a_constant_stays(build: Build, name: str) -> None:
    for factor, mode in ((4, "center"), (3, "bilinear"), (2, "nearest")):
        method = build(name, factor=factor, mode=mode)
        low = np.full((2, 1, 5, 6), 0.625, np.float32)
        output = upsampled(method, low, random(1, 3, 5 * factor, 6 * factor))
        assert output.shape == (2, 1, 5 * factor, 6 * factor)
        np.testing.assert_allclose(output, 0.625, atol=1e-4)


@pytest.mark.parametrize("name", KEEP_RANGE)
def test_nothing_beyond_the_range_of_the_input(build: Build, name: str) -> None:
    low = random(1, 2, 6, 7)
    low[0, 1] += 5
    output = upsampled(build(name, factor=4), low, random(1, 3, 24, 28))
    lowest, highest = low.min(axis=(2, 3)), low.max(axis=(2, 3))
    assert (output.min(axis=(2, 3)) >= lowest - 1e-5).all()
    assert (output.max(axis=(2, 3)) <= highest + 1e-5).all()


@pytest.mark.parametrize("name", CLASSICAL)
def test_channels_are_alike_whether_images_or_not(build: Build, name: str) -> None:
    low, guide = random(2, 1, 5, 6), random(1, 3, 20, 24)
    method = build(name, factor=4)
    apart = upsampled(method, low, guide)
    together = upsampled(method, low.transpose(1, 0, 2, 3), guide)
    np.testing.assert_allclose(together[0], apart[:, 0], atol=1e-4)


@pytest.mark.parametrize("name", GUIDED)
def test_edges_follow_the_guide(build: Build, name: str) -> None:
    """A step between two samples is put where the image has its edge."""
    factor, edge = 4, 13  # the samples beside it are at 9 and 13
    low = np.zeros((1, 1, 6, 6), np.float32)
    low[..., 3:] = 1
    guide = two_halves(24, 24, edge)[None]
    steps = np.diff(upsampled(build(name, factor=factor), low, guide)[0, 0, 12])
    assert steps.argmax() == edge - 1
    assert steps.max() > 0.35  # which linear growth spreads over four pixels


def test_nearest_and_bilinear_and_bicubic(build: Build) -> None:
    low = random(1, 1, 4, 5)
    guide = random(1, 3, 12, 15)
    nearest = upsampled(build("nearest", factor=3), low, guide)
    np.testing.assert_array_equal(nearest, low.repeat(3, axis=2).repeat(3, axis=3))
    bilinear = upsampled(build("bilinear", factor=3), low, guide)
    np.testing.assert_allclose(bilinear[:, :, 1::3, 1::3], low, rtol=1e-6)  # middles of odd cells
    np.testing.assert_allclose(bilinear[0], grow(low[0], 3, 1), rtol=1e-5)
    bicubic = upsampled(build("bicubic", factor=3), low, guide)
    np.testing.assert_allclose(bicubic[:, :, 1::3, 1::3], low, rtol=1e-4)
    # Keys' kernel with a = −1/2 at a third of the way: it reproduces parabolas, −3/4 does not.
    parabola = np.arange(8, dtype=np.float32) ** 2
    grown = upsampled(
        build("bicubic", factor=3),
        np.broadcast_to(parabola, (1, 1, 8, 8)).copy(),
        random(1, 3, 24, 24),
    )
    places = (np.arange(24) - 1) / 3
    np.testing.assert_allclose(grown[0, 0, 12, 6:-6], places[6:-6] ** 2, rtol=1e-4)


def brute_force_jbu(
    low: Array, guide: Array, factor: int, offset: float, sigma_spatial: float, sigma_range: float
) -> NDArray[np.float64]:
    """Kopf et al., equation 3: loops over pixels and the 5×5 samples around each.

    A sample that lies between four pixels has the mean of their colours.
    """
    height, width = low.shape
    output = np.zeros(guide.shape[1:])
    for y in range(guide.shape[1]):
        for x in range(guide.shape[2]):
            weights = total = 0.0
            for v in range(y // factor - 2, y // factor + 3):
                for u in range(x // factor - 2, x // factor + 3):
                    if not (0 <= v < height and 0 <= u < width):
                        continue
                    row, column = v * factor + offset, u * factor + offset
                    apart = ((y - row) ** 2 + (x - column) ** 2) / factor**2
                    rows, columns = (slice(int(p), int(np.ceil(p)) + 1) for p in (row, column))
                    colour = guide[:, rows, columns].mean(axis=(1, 2))
                    unlike = float(((guide[:, y, x] - colour) ** 2).sum())
                    weight = np.exp(-apart / (2 * sigma_spatial**2) - unlike / (2 * sigma_range**2))
                    weights += weight
                    total += weight * low[v, u]
            output[y, x] = total / weights
    return output


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize(
    ("factor", "mode"),
    [(2, "center"), (3, "center"), (4, "nearest"), (2, "bilinear"), (4, "bilinear")],
)
def test_jbu_is_the_brute_force_loop(factor: int, mode: Mode, backend: str) -> None:
    low, guide = random(2, 4, 5), random(3, 4 * factor, 5 * factor)
    offset = sample_offset(factor, mode)
    output = joint_bilateral_upsample(
        torch.from_numpy(low)[None],
        torch.from_numpy(guide)[None],
        factor,
        offset,
        0.6,
        0.3,
        backend,
    )
    for channel, samples in zip(output[0].numpy(), low, strict=True):
        expected = brute_force_jbu(samples, guide, factor, offset, 0.6, 0.3)
        np.testing.assert_allclose(channel, expected, atol=2e-5)


@pytest.mark.parametrize("factor", [3, 5])
def test_jbu_is_a_normalised_transposed_pac(factor: int) -> None:
    """Of stride m, its window being 5 cells; odd factors, for which that is a number of taps."""
    low, guide = torch.rand(1, 2, 5, 6), torch.rand(1, 3, 5 * factor, 6 * factor)
    offset = (factor - 1) // 2
    away = (torch.arange(5 * factor) - 5 * factor // 2) / (0.5 * factor)
    gaussian = torch.exp(-(away[:, None] ** 2 + away**2) / 2)[None, None]
    sums = kernels.pac_conv_transpose2d(
        torch.cat([low, torch.ones_like(low[:, :1])], 1),
        guide / 0.3,
        gaussian,
        stride=factor,
        padding=5 * factor // 2 - offset,
    )
    output = joint_bilateral_upsample(low, guide, factor, offset, 0.5, 0.3)
    # Windows around pixels and around cells differ by the samples 2 to 2½ cells away.
    torch.testing.assert_close(output, sums[:, :-1] / sums[:, -1:], atol=1e-3, rtol=0)


def test_jbu_interpolates_where_no_sample_resembles_the_pixel() -> None:
    guide = np.zeros((3, 8, 8), np.float32)
    guide[:, 3, 3] = 1  # no sample of `center`, which are at 1 and 5
    low = torch.tensor([[[[0.0, 1.0], [0.0, 1.0]]]])
    output = joint_bilateral_upsample(low, torch.from_numpy(guide)[None], 4, 1, 0.5, 0.01)
    assert output[0, 0, 3, 3] == pytest.approx(0.375)


@pytest.mark.parametrize("epsilon", [0.1, 1e-3])
@pytest.mark.parametrize("grey", [False, True], ids=["colour", "grey"])
def test_gf_is_the_papers_away_from_the_border(grey: bool, epsilon: float) -> None:
    """He et al., equations 19 to 21, in loops over windows."""
    maps, guide, radius = random(2, 11, 12), random(3, 11, 12), 2
    if grey:  # whose covariance has no inverse without ε
        guide[:] = guide[:1]
    height, width = guide.shape[1:]
    slopes, means = np.zeros((2, 3, height, width)), np.zeros((2, height, width))
    for y in range(radius, height - radius):
        for x in range(radius, width - radius):
            window = np.s_[:, y - radius : y + radius + 1, x - radius : x + radius + 1]
            colours = guide[window].reshape(3, -1).astype(np.float64)
            covariance = np.cov(colours, bias=True) + epsilon * np.eye(3)
            for channel in range(2):
                values = maps[window][channel].ravel()
                joint = (colours * values).mean(axis=1) - colours.mean(axis=1) * values.mean()
                slope = np.linalg.solve(covariance, joint)
                slopes[channel, :, y, x] = slope
                means[channel, y, x] = values.mean() - slope @ colours.mean(axis=1)
    output = guided_filter(maps, guide, radius, epsilon)
    for y in range(2 * radius, height - 2 * radius):
        for x in range(2 * radius, width - 2 * radius):
            window = np.s_[..., y - radius : y + radius + 1, x - radius : x + radius + 1]
            slope = slopes[window].mean(axis=(2, 3))
            expected = slope @ guide[:, y, x] + means[window].mean(axis=(1, 2))
            np.testing.assert_allclose(output[:, y, x], expected, atol=1e-4)


def test_mrf_is_the_minimum_of_its_energy() -> None:
    low, guide = random(1, 3, 4), random(3, 9, 12)
    smoothness, c = 0.2, 4.0
    output = mrf(low, guide, 3, 1, smoothness, c)[0].astype(np.float64)

    def energy(u: NDArray[np.float64]) -> float:
        total = float(((u[1::3, 1::3] - low[0]) ** 2).sum())
        for down, across in ((0, 1), (1, 0)):
            for y in range(9 - down):
                for x in range(12 - across):
                    contrast = float(((guide[:, y, x] - guide[:, y + down, x + across]) ** 2).sum())
                    weight = smoothness * (np.exp(-c * contrast) + LEAST_SIMILARITY)
                    total += weight * (u[y, x] - u[y + down, x + across]) ** 2
        return total

    least = energy(output)
    for _ in range(20):
        assert energy(output + 0.01 * RNG.standard_normal(output.shape)) > least


def sdf_energy(u: Array, low: Array, guide: Array, factor: int, params: SDFilterParams) -> float:
    sampling = sampling_matrix(guide.shape[1:], factor, 1)
    total = float(((sampling @ u[0].ravel() - low[0].ravel()) ** 2).sum())
    for step in EIGHT_NEIGHBOURS:
        jumps = squared_differences(u, step).astype(np.float64)
        static = np.exp(-params.mu * squared_differences(guide, step))
        bounded = (1 - np.exp(-params.nu * jumps)) / params.nu
        total += params.smoothness * float((static * bounded + LEAST_SIMILARITY * jumps).sum())
    return total


def test_no_step_of_sdf_raises_its_energy() -> None:
    low, guide = random(1, 5, 6), two_halves(20, 24, 11) + 0.1 * random(3, 20, 24)
    energies = []
    for steps in range(1, 8):
        params = SDFilterParams(smoothness=0.05, mu=5.0, nu=8.0, steps=steps)
        energies.append(sdf_energy(sd_filter(low, guide, 4, 1, params), low, guide, 4, params))
    start = sdf_energy(grow(low, 4, 1), low, guide, 4, params)
    assert energies[0] < start
    assert all(after <= before * (1 + 1e-4) for before, after in pairwise(energies))


@pytest.mark.parametrize("name", ["fbs", "jbu", "mrf", "sdf"])
@pytest.mark.parametrize("target", ["depth", "flow"])
def test_better_than_bilinear_on_a_scene_that_the_image_explains(
    build: Build, sample: Sample, name: str, target: str
) -> None:
    """Depth, or flow, that is a function of the image's brightness: one flat value per object."""
    scores: dict[str, Any] = {}
    image = np.zeros((3, 48, 64), np.uint8)
    image[:, 10:33, 7:29] = 90
    image[:, 20:44, 37:58] = 200
    level = image[0].astype(np.float32) / 100
    scene = Sample("flat", image, depth=level + 1, flow=np.stack([level, 2 - level]))
    for method in (
        build(name, factor=4, target=target),
        build("bilinear", factor=4, target=target),
    ):
        output = method.finish(method.run(method.prepare(scene)))
        truth = scene.depth[None] if target == "depth" else scene.flow
        scores[type(method).__name__] = float(np.sqrt(np.mean((output - truth) ** 2)))
    ours, plain = scores.values()
    assert ours < 0.6 * plain
