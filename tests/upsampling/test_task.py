"""Outputs are scored in the sample's units and drawn in the colours of the truth."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from pacbench.data.base import Sample
from pacbench.data.show import map_colours
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


@pytest.mark.parametrize("target", ["depth", "flow"])
def test_pictures_of_the_truth_show_no_error(sample: Sample, target: str) -> None:
    task = task_of(sample, target=target)
    truth = sample.depth[None] if target == "depth" else sample.flow
    pictures = task.pictures(truth, sample)
    assert set(pictures) == {"image", "truth", "output", "error", f"input,{target},center,x4"}
    assert {picture.shape for picture in pictures.values()} == {(50, 67, 3)}
    np.testing.assert_array_equal(pictures["output"], pictures["truth"])
    none = map_colours(np.zeros((1, 1)), 0, 1, "magma")
    assert (pictures["error"] == none).all()


def test_colours_do_not_depend_on_the_output(sample: Sample) -> None:
    task = task_of(sample)
    truth = sample.depth[None]
    farther = task.pictures(truth + 100, sample)
    assert len(np.unique(farther["output"].reshape(-1, 3), axis=0)) == 1  # all beyond the range
    np.testing.assert_array_equal(farther["truth"], task.pictures(truth, sample)["truth"])


def test_unknown_pixels_are_black_and_do_not_count(sample: Sample) -> None:
    valid = np.ones(sample.depth.shape, bool)
    valid[20:30] = False
    holed = dataclasses.replace(sample, depth=np.where(valid, sample.depth, 0), valid=valid)
    task = task_of(holed)
    output = np.where(valid, sample.depth, np.float32(1e3))[None]
    assert task.score(output, holed)["rmse_cm"] == 0
    pictures = task.pictures(output, holed)
    assert not pictures["error"][~valid].any()
    assert not pictures["truth"][~valid].any()


def test_a_sample_without_the_target_is_refused(sample: Sample) -> None:
    with pytest.raises(ValueError, match="has no flow to upsample"):
        task_of(dataclasses.replace(sample, flow=None), target="flow")
