"""What the solvers stand on: sampling, the graph of pixels, conjugate gradients, the grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu, spsolve

from pacbench.baselines.upsampling.conjugate_gradients import conjugate_gradients
from pacbench.baselines.upsampling.fbs import BilateralGrid, bilateral_solver, bump_confidence
from pacbench.baselines.upsampling.pixel_graph import (
    EIGHT_NEIGHBOURS,
    FOUR_NEIGHBOURS,
    SampledMap,
    Step,
    laplacian,
    similarity,
    squared_differences,
)
from pacbench.baselines.upsampling.sample_preconditioner import SamplePreconditioner
from pacbench.baselines.upsampling.sampling import (
    distance_to_sample,
    grow,
    sample_offset,
    sampling_matrix,
)
from pacbench.baselines.upsampling.sdf import SDFilterParams, sd_filter
from pacbench.protocols.lowres import Mode, shrink

Array = NDArray[np.float32]
RNG = np.random.default_rng(0)


def random(*shape: int) -> Array:
    return RNG.random(shape, np.float32)


@pytest.mark.parametrize("mode", ["center", "nearest"])
@pytest.mark.parametrize("factor", [2, 3, 4, 16])
def test_sampling_is_what_the_protocol_does(factor: int, mode: Mode) -> None:
    full = random(1, 3 * factor, 2 * factor)
    matrix = sampling_matrix(full.shape[1:], factor, sample_offset(factor, mode))
    np.testing.assert_array_equal(
        (matrix @ full.ravel()).reshape(1, 3, 2), shrink(full, factor, mode)
    )


@pytest.mark.parametrize("factor", [2, 3, 4])
def test_an_averaging_protocol_samples_a_plane_at_the_middle_of_cells(factor: int) -> None:
    rows, columns = np.indices((5 * factor, 6 * factor), np.float32)
    plane = 0.3 * rows - 0.2 * columns
    matrix = sampling_matrix(plane.shape, factor, sample_offset(factor, "bilinear"))
    samples = (matrix @ plane.ravel()).reshape(5, 6)
    means = plane.reshape(5, factor, 6, factor).mean(axis=(1, 3))
    np.testing.assert_allclose(samples, means, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize("mode", ["center", "nearest", "bilinear"])
@pytest.mark.parametrize("factor", [1, 2, 3, 8])
def test_growing_keeps_planes_inside_and_samples_in_their_places(factor: int, mode: Mode) -> None:
    offset = sample_offset(factor, mode)
    low = random(2, 4, 5)
    grown = grow(low, factor, offset)
    assert grown.shape == (2, 4 * factor, 5 * factor)
    matrix = sampling_matrix(grown.shape[1:], factor, offset)
    back = np.stack([matrix @ channel for channel in grown.reshape(2, -1)]).reshape(low.shape)
    if offset == int(offset):
        np.testing.assert_allclose(back, low, rtol=1e-5)
    rows, columns = np.indices((4 * factor, 5 * factor), np.float32)
    plane = 2 * rows + columns
    flat = grow((matrix @ plane.ravel()).reshape(4, 5), factor, offset)
    inside = np.s_[factor:-factor, factor:-factor]
    np.testing.assert_allclose(flat[inside], plane[inside], rtol=1e-5)


def test_distance_to_sample() -> None:
    np.testing.assert_array_equal(distance_to_sample(2, 4, 1), [1, 0, 1, 2, 1, 0, 1, 2])
    np.testing.assert_array_equal(distance_to_sample(1, 4, 1.5), [1.5, 0.5, 0.5, 1.5])


@pytest.mark.parametrize("steps", [FOUR_NEIGHBOURS, EIGHT_NEIGHBOURS], ids=["4", "8"])
@pytest.mark.parametrize("size", [(5, 7), (1, 6), (6, 1), (1, 1), (2, 2)])
def test_laplacian_is_the_sum_over_edges(steps: tuple[Step, ...], size: tuple[int, int]) -> None:
    height, width = size
    image = random(3, height, width)
    weights = [np.exp(-squared_differences(image, step)) for step in steps]
    expected = np.zeros((height * width, height * width))
    for y in range(height):
        for x in range(width):
            for down, across in steps:
                v, u = y + down, x + across
                if not (v < height and 0 <= u < width):
                    continue
                weight = np.exp(-((image[:, y, x] - image[:, v, u]) ** 2).sum())
                edge = np.zeros(height * width)
                edge[y * width + x], edge[v * width + u] = 1, -1
                expected += weight * np.outer(edge, edge)
    np.testing.assert_allclose(
        laplacian(weights, steps, size).toarray(), expected, rtol=1e-5, atol=1e-6
    )


def test_smoothest_map_solves_the_dense_system() -> None:
    low, guide = random(2, 3, 4), random(3, 12, 16)
    weights = [0.1 * np.exp(-3 * squared_differences(guide, step)) for step in EIGHT_NEIGHBOURS]
    for offset in (1, 1.5):
        found = SampledMap(low, 4, offset).smoothest(
            grow(low, 4, offset), weights, EIGHT_NEIGHBOURS
        )
        sampling = sampling_matrix((12, 16), 4, offset).toarray().astype(np.float64)
        matrix = sampling.T @ sampling + laplacian(weights, EIGHT_NEIGHBOURS, (12, 16)).toarray()
        expected = np.linalg.solve(matrix, sampling.T @ low.reshape(2, -1).T).T
        np.testing.assert_allclose(found.reshape(2, -1), expected, atol=2e-4)


def patches(height: int, width: int) -> Array:
    """(3, H, W) of flat patches with noise."""
    flat = random(3, height // 16, width // 16).repeat(16, axis=1).repeat(16, axis=2)
    return flat + 0.1 * random(3, height, width)


def solved_directly(
    low: Array, factor: int, offset: float, weights: Sequence[Array], steps: Sequence[Step]
) -> NDArray[np.float64]:
    """(C, H, W) in double precision."""
    size = (low.shape[1] * factor, low.shape[2] * factor)
    sampling = sampling_matrix(size, factor, offset).astype(np.float64)
    graph = laplacian(weights, steps, size).astype(np.float64)
    factors = splu(sparse.csc_array(sampling.T @ sampling + graph))
    channels = [factors.solve(sampling.T @ samples.reshape(-1)) for samples in low]
    return np.stack(channels).reshape(-1, *size)


@pytest.mark.parametrize("mode", ["center", "bilinear"])
@pytest.mark.parametrize("factor", [4, 16])
@pytest.mark.parametrize("steps", [FOUR_NEIGHBOURS, EIGHT_NEIGHBOURS], ids=["4", "8"])
def test_smoothest_map_is_found_to_a_thousandth(
    steps: tuple[Step, ...], factor: int, mode: Mode
) -> None:
    """With weights as suites have them, by a sparse direct solver."""
    offset, contrast = sample_offset(factor, mode), {"center": 350, "bilinear": 1000}[mode]
    guide, low = patches(96, 128), random(1, 96 // factor, 128 // factor)
    weights = [0.001 * similarity(contrast * squared_differences(guide, step)) for step in steps]
    found = SampledMap(low, factor, offset).smoothest(grow(low, factor, offset), weights, steps)
    expected = solved_directly(low, factor, offset, weights, steps)
    np.testing.assert_allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize("mode", ["center", "bilinear"])
@pytest.mark.parametrize("factor", [4, 16])
def test_sdf_solves_its_systems_to_a_thousandth(factor: int, mode: Mode) -> None:
    params = SDFilterParams(mu=300.0, nu=40.0)
    offset = sample_offset(factor, mode)
    guide, low = patches(96, 128), random(2, 96 // factor, 128 // factor)

    def exact_step(u: NDArray[np.floating]) -> NDArray[np.float64]:
        exponents = [
            params.mu * squared_differences(guide, step) + params.nu * squared_differences(u, step)
            for step in EIGHT_NEIGHBOURS
        ]
        weights = [params.smoothness * similarity(exponent) for exponent in exponents]
        return solved_directly(low, factor, offset, weights, EIGHT_NEIGHBOURS)

    found = sd_filter(low, guide, factor, offset, params)
    before = sd_filter(low, guide, factor, offset, params.model_copy(update={"steps": 9}))
    np.testing.assert_allclose(found, exact_step(before), atol=1e-3)
    expected = grow(low, factor, offset)
    for _ in range(params.steps):
        expected = exact_step(expected)
    # E is not convex: a pixel on its way from one side to the other makes more of a difference.
    assert np.mean(abs(found - expected) > 1e-3) < 1e-3


@pytest.mark.parametrize("offset", [1, 1.5])
def test_what_is_solved_is_left_as_it_is(offset: float) -> None:
    low, guide = random(2, 3, 4), random(3, 12, 16)
    weights = [0.1 * similarity(squared_differences(guide, step)) for step in EIGHT_NEIGHBOURS]
    solution = solved_directly(low, 4, offset, weights, EIGHT_NEIGHBOURS).astype(np.float32)
    again = SampledMap(low, 4, offset).smoothest(solution, weights, EIGHT_NEIGHBOURS)
    np.testing.assert_array_equal(again, solution)


def test_sample_preconditioner_is_the_dense_inverse() -> None:
    sampling = sampling_matrix((8, 12), 4, 1.5)
    diagonal, x = random(96) + 0.01, random(96)
    dense = (sampling.T @ sampling).toarray() + np.diag(diagonal)
    found = SamplePreconditioner(sampling, diagonal)(x)
    np.testing.assert_allclose(found, np.linalg.solve(dense, x), rtol=1e-4, atol=1e-5)


def test_sample_preconditioner_saves_half_of_the_iterations() -> None:
    guide, sampling = patches(64, 96), sampling_matrix((64, 96), 4, 1.5)
    weights = [0.001 * similarity(200 * squared_differences(guide, s)) for s in EIGHT_NEIGHBOURS]
    graph = laplacian(weights, EIGHT_NEIGHBOURS, (64, 96))
    matrix = (sampling.T @ sampling).todia() + graph
    right, start = sampling.T @ random(16 * 24), np.zeros(64 * 96, np.float32)
    expected = spsolve(sparse.csc_array(matrix.astype(np.float64)), right)
    ours = conjugate_gradients(
        matrix,
        right,
        start,
        iterations=60,
        precondition=SamplePreconditioner(sampling, graph.diagonal()),
    )
    plain = conjugate_gradients(matrix, right, start, iterations=120)
    assert abs(ours - expected).max() < abs(plain - expected).max()


def test_conjugate_gradients_stop_by_the_step_in_the_values() -> None:
    n = 60
    spread = np.diag(10.0 ** RNG.uniform(-3, 3, n)).astype(np.float32)  # rows of unlike weight
    near = np.eye(n) - 0.4 * np.eye(n, k=1) - 0.4 * np.eye(n, k=-1)
    scale = np.sqrt(spread)
    matrix = (scale @ near @ scale).astype(np.float32)
    right = random(n)
    for tolerance in (1e-2, 1e-4):
        x = conjugate_gradients(sparse.csr_array(matrix), right, np.zeros(n, np.float32), tolerance)
        correction = (right - matrix @ x) / np.diag(matrix)
        assert np.sqrt(np.mean(correction**2)) <= 2 * tolerance
    solution = np.linalg.solve(matrix.astype(np.float64), right).astype(np.float32)
    same = conjugate_gradients(sparse.csr_array(matrix), right, solution, 1e-3)
    np.testing.assert_array_equal(same, solution)  # a start that is good enough is left alone


def test_bilateral_grid_joins_what_is_near_and_alike() -> None:
    guide = np.zeros((3, 4, 8), np.float32)
    guide[:, :, 4:] = 1
    grid = BilateralGrid(guide, (2, 0.1, 0.1))
    assert grid.count == 2 * 4  # cells of 2×2 pixels, of one colour each
    vertex = grid.vertex.reshape(4, 8)
    assert (vertex[0, 0] == vertex[:2, :2]).all()
    blur = grid.blur.toarray()
    np.testing.assert_array_equal(blur, blur.T)
    assert blur[vertex[0, 0], vertex[0, 2]] == 1  # beside each other
    assert blur[vertex[0, 0], vertex[2, 0]] == 1
    assert blur[vertex[0, 2], vertex[0, 4]] == 0  # of unlike colours
    assert blur[vertex[0, 0], vertex[2, 2]] == 0  # not along one dimension
    np.testing.assert_array_equal(np.diag(blur), 10)
    np.testing.assert_allclose(grid.splat(np.ones(32, np.float32)), 4)


def test_bilateral_grid_has_the_neighbours_that_a_search_finds() -> None:
    guide = random(3, 9, 11)
    sigmas = (3.0, 0.3, 0.4)
    grid = BilateralGrid(guide, sigmas)
    cells = {}
    for y in range(9):
        for x in range(11):
            r, g, b = (float(value) for value in guide[:, y, x])
            luma = 0.299 * r + 0.587 * g + 0.114 * b
            blue, red = (b - luma) / 1.772 + 0.5, (r - luma) / 1.402 + 0.5
            cell = (int(y / 3), int(x / 3), int(luma / 0.3), int(blue / 0.4), int(red / 0.4))
            cells[int(grid.vertex[y * 11 + x])] = cell
    assert len(set(cells.values())) == len(cells) == grid.count
    blur = grid.blur.toarray()
    for i in cells:
        for j in cells:
            distance = np.abs(np.subtract(cells[i], cells[j])).sum()
            assert blur[i, j] == {0: 10, 1: 1}.get(int(distance), 0)


def test_bistochastisation() -> None:
    grid = BilateralGrid(random(3, 12, 16), (3, 0.2, 0.3))
    n, mass = grid.bistochastise()
    affinity = np.diag(n) @ grid.blur.toarray() @ np.diag(n)
    np.testing.assert_allclose(affinity.sum(axis=1), mass, rtol=1e-5)
    pixels = np.bincount(grid.vertex)
    np.testing.assert_allclose(mass, pixels, rtol=0.05)


def test_bilateral_solver_minimises_its_energy() -> None:
    """Written out over all pairs of pixels, with the affinity Sᵀ D⁻¹ (Dn B Dn) D⁻¹ S."""
    target, guide = random(2, 6, 8), random(3, 6, 8)
    confidence = random(6, 8) + 0.1
    grid = BilateralGrid(guide, (2, 0.2, 0.3))
    found = bilateral_solver(target, confidence, grid, 3.0).reshape(2, -1)
    n, mass = grid.bistochastise()
    blur = np.diag(n) @ grid.blur.toarray() @ np.diag(n)

    splat = np.zeros((grid.count, 48))
    splat[grid.vertex, np.arange(48)] = 1

    def energy(values: NDArray[np.float64]) -> float:
        differences = (values[:, None] - values[None]) ** 2
        return float(0.5 * 3.0 * (blur * differences).sum() + _data(values))

    def _data(values: NDArray[np.float64]) -> float:
        return float((confidence.ravel() * (values @ splat - target[0].ravel()) ** 2).sum())

    best = found[0] @ splat.T / splat.sum(axis=1)
    least = energy(best)
    np.testing.assert_allclose(mass, blur.sum(axis=1), rtol=1e-5)
    for index in range(grid.count):
        for change in (-0.01, 0.01):
            moved = best.copy()
            moved[index] += change
            assert energy(moved) > least


def test_confidence_is_1_at_samples() -> None:
    confidence = bump_confidence((8, 12), 4, 1, 0.25)
    assert confidence.shape == (8, 12)
    np.testing.assert_array_equal(confidence[1::4, 1::4], 1)
    assert confidence[1, 2] == pytest.approx(np.exp(-0.5))
    assert confidence[2, 2] == pytest.approx(np.exp(-1))


def test_vertices_without_neighbours_or_samples_keep_their_target() -> None:
    guide = random(3, 8, 8)  # with cells this fine every pixel is a vertex of its own
    target = random(1, 8, 8)
    grid = BilateralGrid(guide, (1, 0.001, 0.001))
    assert grid.count == 64
    confidence = bump_confidence((8, 8), 8, 3, 0.02)
    np.testing.assert_allclose(bilateral_solver(target, confidence, grid, 10.0), target, rtol=1e-4)
