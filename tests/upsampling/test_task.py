"""Outputs are scored, and kept to be looked at, in the sample's units."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from pacbench.data.base import Sample
from pacbench.protocols import UpsampleProtocol
from pacbench.tasks.upsample import UpsampleTask


def task_of(sample: Sample, **protocol: object) -> UpsampleTask:
    return UpsampleTask(sample, UpsampleProtocol(**protocol))


def test_depth_is_scored_in_centimetres(sample: Sample) -> None:
    task = task_of(sample, factor=8)
    assert task.score(sample.depth[None] + 0.5, sample)["rmse_cm"] == pytest.approx(50, rel=1e-4)
    assert task.summary()[task.goal] == pytest.approx(50, rel=1e-4)
    assert task.protocol == "depth,center,x8; rmse:cm,border6,image-mean,edge5px"
    assert not task.larger_is_better


def test_flow_is_scored_by_its_end_points(sample: Sample) -> None:
    task = task_of(sample, target="flow", mode="bilinear")
    off = sample.flow + np.float32([3, 4])[:, None, None]
    assert task.score(off, sample) == {"epe": pytest.approx(5, rel=1e-4)}
    assert task.goal == "epe"
    assert task.protocol.startswith("flow,bilinear,x4; epe:px")


@pytest.mark.parametrize(("target", "channels"), [("depth", 1), ("flow", 2)])
def test_pictures_are_the_image_and_maps_in_their_unit(
    sample: Sample, target: str, channels: int
) -> None:
    task = task_of(sample, target=target)
    output = np.full((channels, 50, 67), 3, np.float64)
    pictures = task.pictures(output, sample)
    assert set(pictures) == {"image", "truth", "output", f"input,{target},center,x4"}
    image = pictures.pop("image")
    assert (image.shape, image.dtype) == ((50, 67, 3), np.uint8)
    assert {(each.shape, each.dtype.name) for each in pictures.values()} == {
        ((channels, 50, 67), "float32")
    }
    truth = sample.depth[None] if target == "depth" else sample.flow
    np.testing.assert_array_equal(pictures["truth"], truth)
    output[:] = 0  # a method may use its output again
    assert (pictures["output"] == 3).all()


@pytest.mark.parametrize("target", ["depth", "flow"])
def test_samples_with_edges_are_kept_before_others(sample: Sample, target: str) -> None:
    task = task_of(sample, target=target)
    held = getattr(sample, target)
    ramp = np.broadcast_to(np.linspace(0, 1, 67, dtype=np.float32), held.shape)
    assert task.edges(dataclasses.replace(sample, **{target: ramp})) == 0
    step = np.where(np.arange(67) < 30, np.float32(1), np.float32(2))
    stepped = dataclasses.replace(sample, **{target: np.broadcast_to(step, held.shape)})
    assert task.edges(stepped) == 50
    known = np.ones((50, 67), bool)
    known[:10] = False
    assert task.edges(dataclasses.replace(stepped, valid=known)) == 40


def test_unknown_pixels_do_not_count_and_are_not_shown(sample: Sample) -> None:
    valid = np.ones(sample.depth.shape, bool)
    valid[20:30] = False
    holed = dataclasses.replace(sample, depth=np.where(valid, sample.depth, 0), valid=valid)
    task = task_of(holed)
    output = np.where(valid, sample.depth, np.float32(1e3))[None]
    assert task.score(output, holed)["rmse_cm"] == 0
    truth = task.pictures(output, holed)["truth"]
    np.testing.assert_array_equal(np.isnan(truth[0]), ~valid)


def test_a_sample_without_the_target_is_refused(sample: Sample) -> None:
    with pytest.raises(ValueError, match="has no flow to upsample"):
        task_of(dataclasses.replace(sample, flow=None), target="flow")
