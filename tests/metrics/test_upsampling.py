"""RMSE, end-point error and depth edges, against plain loops."""

import numpy as np
import pytest

from pacbench.data.base import Sample
from pacbench.metrics import DepthScore, FlowScore
from pacbench.metrics.upsampling import depth_edges, near_edges


def depth_sample(depth, valid=None):
    return Sample("d", np.zeros((3, *depth.shape), np.uint8), depth=depth, valid=valid)


def test_rmse_is_in_centimetres_without_the_border():
    rng = np.random.default_rng(0)
    depth = rng.uniform(1, 5, (30, 40)).astype(np.float32)
    output = depth + rng.normal(0, 0.1, depth.shape)
    output[:6] = output[-6:] = output[:, :6] = output[:, -6:] = 99  # must not count
    total = sum((output[y, x] - depth[y, x]) ** 2 for y in range(6, 24) for x in range(6, 34))
    expected = 100 * (total / (18 * 28)) ** 0.5
    assert DepthScore().add(output, depth_sample(depth))["rmse_cm"] == pytest.approx(expected)


def test_invalid_pixels_do_not_count():
    depth = np.full((20, 20), 2, np.float32)
    valid = np.ones((20, 20), bool)
    valid[8:12, 8:12] = False
    output = depth + 0.03
    output[~valid] = 50
    metrics = DepthScore().add(output, depth_sample(depth, valid))
    assert metrics["rmse_cm"] == pytest.approx(3.0, rel=1e-5)


def test_the_split_is_the_mean_of_the_images():
    score = DepthScore(border=0)
    depth = np.ones((4, 4), np.float32)
    for error in (0.01, 0.03):
        score.add(depth + error, depth_sample(depth))
    assert score.result()["rmse_cm"] == pytest.approx(2.0, rel=1e-5)
    assert np.isnan(score.result()["edge_rmse_cm"])  # no image has an edge


def test_edge_rmse_counts_five_pixels_around_a_step():
    depth = np.ones((30, 60), np.float32)
    depth[:, 30:] = 2
    output = depth.copy()
    output[:, :20] += 1  # far from the edge
    output[:, 29] += 0.5
    metrics = DepthScore().add(output, depth_sample(depth))
    # Columns 24..35 are within 5 of the edge pixels 29 and 30; one of the twelve is wrong.
    assert metrics["edge_rmse_cm"] == pytest.approx(50 / 12**0.5)


def test_a_receding_floor_is_no_edge_but_a_relative_step_is():
    floor = np.linspace(1, 8, 200, dtype=np.float32)[:, None].repeat(5, axis=1)
    assert not depth_edges(floor).any()
    step = np.array([[1.0, 1.04, 1.2, 1.2]], np.float32)
    np.testing.assert_array_equal(depth_edges(step), [[False, True, True, False]])


def test_an_invalid_neighbour_makes_no_edge():
    depth = np.array([[1.0, 0.0, 1.0]], np.float32)
    assert not depth_edges(depth, np.array([[True, False, True]])).any()
    assert not near_edges(np.zeros((3, 3), bool)).any()


def test_end_point_error_is_the_mean_length_over_valid_pixels():
    rng = np.random.default_rng(1)
    flow = rng.normal(0, 5, (2, 7, 9)).astype(np.float32)
    output = flow + rng.normal(0, 1, flow.shape)
    valid = rng.random((7, 9)) < 0.7
    lengths = [
        ((output[0, y, x] - flow[0, y, x]) ** 2 + (output[1, y, x] - flow[1, y, x]) ** 2) ** 0.5
        for y in range(7)
        for x in range(9)
        if valid[y, x]
    ]
    sample = Sample("f", np.zeros((3, 7, 9), np.uint8), flow=flow, valid=valid)
    score = FlowScore()
    assert score.add(output, sample)["epe"] == pytest.approx(np.mean(lengths))
    assert score.result()["epe"] == pytest.approx(np.mean(lengths))


@pytest.mark.parametrize(
    ("score", "message"), [(DepthScore(), "no depth"), (FlowScore(), "no flow")]
)
def test_what_is_missing_is_named(score, message):
    with pytest.raises(ValueError, match=f"sample 'x' has {message}"):
        score.add(np.zeros((2, 2)), Sample("x", np.zeros((3, 2, 2), np.uint8)))


def test_outputs_of_another_shape_are_refused():
    depth = np.ones((20, 20), np.float32)
    with pytest.raises(ValueError, match=r"the output has shape \(1, 20, 20\)"):
        DepthScore().add(depth[None], depth_sample(depth))
