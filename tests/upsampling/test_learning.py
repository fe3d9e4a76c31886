"""Crops that the protocol degrades, losses in the units of the score, a training that learns."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from pacbench.data.base import datasets
from pacbench.suite.load import load_suite
from pacbench.train.augment import textured
from pacbench.train.job import run_training
from pacbench.train.spec import TrainingSpec
from pacbench.train.upsample import UpsampleLearning

SMALL = ["data.params={size: [40, 48], unary: null, count: 3}", "training.params={}"]


def learning_of(target: str, **spec: object) -> UpsampleLearning:
    cells = load_suite(f"upsample_{target}", SMALL).cells("cpu", 1, {"factor": "4"})
    scenes = datasets["scenes"]
    params = scenes.Params(**cells[0].data.params)
    training, validation = (scenes(params, split=split, seed=0) for split in ("train", "val"))
    chosen = TrainingSpec(**{"crop": [32, 32], "batch": 2, "validation_samples": 2, **spec})
    return UpsampleLearning(training, validation, chosen, cells[0])


class Answer(nn.Module):
    """Gives what it was told, whatever it is asked."""

    def __init__(self, answer: Tensor) -> None:
        super().__init__()
        self.answer = answer

    def forward(self, low: Tensor, guide: Tensor) -> Tensor:
        return self.answer


@pytest.mark.parametrize(("target", "channels"), [("depth", 1), ("flow", 2)])
def test_batches_depend_on_their_number_alone(target: str, channels: int) -> None:
    learning = learning_of(target)
    first, again, other = learning.batch(3), learning_of(target).batch(3), learning.batch(4)
    assert first.low.shape == (2, channels, 8, 8)
    assert first.guide.shape == (2, 3, 32, 32)
    assert first.truth.shape == (2, channels, 32, 32)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first.truth, other.truth)


def test_texture_changes_guides_alone() -> None:
    plain, rough = (learning_of("depth", texture=t, batch=1).batch(3) for t in (0.0, 0.5))
    again = learning_of("depth", texture=0.5, batch=1).batch(3)
    changed = (rough.guide - plain.guide).abs()
    assert torch.equal(rough.guide, again.guide)
    assert torch.equal(rough.low, plain.low)
    assert torch.equal(rough.truth, plain.truth)
    assert 0 < changed.max() <= 0.5
    assert rough.guide.min() >= 0
    assert rough.guide.max() <= 1


@pytest.mark.parametrize("seed", range(8))
def test_a_pattern_covers_about_half_of_an_image(seed: int) -> None:
    grey = np.full((3, 100, 130), 128, np.uint8)
    rough = textured(grey, 0.4, random.Random(seed))  # noqa: S311, patterns are no secrets
    assert rough.shape == grey.shape
    share = (rough != grey).any(axis=0).mean()
    assert 0.1 < share < 0.9
    assert np.abs(rough.astype(int) - 128).max() <= 103


def test_late_settings_begin_at_the_first_milestone() -> None:
    """They are blurred before they are shrunk, and their guides stay as they are."""
    spec = {"late": {"smooth": 1.0}, "milestones": [0.5, 0.9], "batch": 1}
    plain = learning_of("depth", batch=1).batch(3)
    early, late = (learning_of("depth", **spec).batch(3, progress) for progress in (0.49, 0.5))
    assert all(torch.equal(a, b) for a, b in zip(plain, early, strict=True))
    assert torch.equal(plain.guide, late.guide)
    assert steepest(late.truth) < 0.5 * steepest(plain.truth)
    low = late.low * late.span + late.minimum
    torch.testing.assert_close(low, late.truth[:, :, 1::4, 1::4])


def steepest(maps: Tensor) -> float:
    return float(maps.diff(dim=-1).abs().max())


def test_of_candidates_the_most_varied_is_taken() -> None:
    one, many = (
        [learning_of("depth", batch=1, candidates=n).batch(i).truth.std() for i in range(8)]
        for n in (1, 6)
    )
    assert sum(many) > sum(one)
    late = learning_of("depth", batch=1, candidates=6, late={"candidates": 1})
    assert [late.batch(i, progress=1.0).truth.std() for i in range(8)] == one
    assert [late.batch(i).truth.std() for i in range(8)] == many


@pytest.mark.parametrize("target", ["depth", "flow"])
def test_low_is_the_truth_by_the_protocol(target: str) -> None:
    learning = learning_of(target)
    batch = learning.batch(0)
    low = batch.low * batch.span + batch.minimum
    if target == "depth":
        torch.testing.assert_close(low, batch.truth[:, :, 1::4, 1::4])
    else:
        torch.testing.assert_close(low.mean(), batch.truth.mean(), rtol=0.1, atol=0.2)


@pytest.mark.parametrize(("target", "off", "loss"), [("depth", [0.5], 0.5), ("flow", [3, 4], 5)])
def test_losses_are_rmse_and_end_point_error(target: str, off: list[float], loss: float) -> None:
    learning = learning_of(target)
    batch = learning.batch(0)
    wrong = batch.truth + torch.tensor(off)[:, None, None]
    answer = Answer((wrong - batch.minimum) / batch.span)
    assert learning.loss(answer, batch).item() == pytest.approx(loss, rel=1e-3)


def test_losses_have_a_gradient_where_the_answer_is_right() -> None:
    for target in ("depth", "flow"):
        learning = learning_of(target)
        batch = learning.batch(0)
        answer = ((batch.truth - batch.minimum) / batch.span).requires_grad_()
        learning.loss(Answer(answer), batch).backward()
        assert torch.isfinite(answer.grad).all()


def test_mirrored_flow_points_the_other_way() -> None:
    learning = learning_of("flow", batch=1, crop=[40, 48])
    straight = [learning.training[index].flow for index in range(3)]
    seen = set()
    for number in range(12):
        truth = learning.batch(number).truth[0].numpy()
        for flow in straight:
            turned = flow[:, :, ::-1] * np.float32([-1, 1])[:, None, None]
            seen |= {"straight"} if np.array_equal(truth, flow) else set()
            seen |= {"mirrored"} if np.array_equal(truth, turned) else set()
    assert seen == {"straight", "mirrored"}


def test_unknown_pixels_and_the_border_of_depth_do_not_count() -> None:
    learning = learning_of("depth", batch=1)
    whole = learning.training[0]
    valid = np.zeros(whole.depth.shape, bool)
    valid[:, :24] = True
    holed = dataclasses.replace(whole, depth=np.where(valid, whole.depth, 0), valid=valid)
    learning.training_sample = lambda _: holed
    batch = learning.batch(0)
    counted = batch.counted[0].bool()
    assert not counted[:6].any()
    assert (batch.truth[0, 0][counted] > 0).all()
    assert 0 < counted.sum() < 20 * 20
    assert learning_of("flow", batch=1).batch(0).counted.all()


def test_crops_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match=r"crop is 64×32, but sample 'train-0-.*' is 40×48"):
        learning_of("depth", crop=[64, 32]).batch(0)
    with pytest.raises(ValueError, match="crop is 30×32; training at factor 4 needs multiples"):
        learning_of("depth", crop=[30, 32]).batch(0)


def test_larger_factors_take_larger_crops() -> None:
    wider = learning_of("depth", crop=[32, 32], low_crop=9).batch(0)
    assert wider.low.shape == (2, 1, 9, 9)
    assert wider.truth.shape == (2, 1, 36, 36)
    enough = learning_of("depth", crop=[32, 32], low_crop=8).batch(0)
    assert enough.truth.shape == (2, 1, 32, 32)
    with pytest.raises(ValueError, match=r"crop is 44×44, but .* lower `crop` or `low_crop`"):
        learning_of("depth", crop=[32, 32], low_crop=11).batch(0)


def test_a_short_training_learns_and_starts_afresh(tmp_path: Path) -> None:
    overrides = [*SMALL, "training.iterations=20", "training.budget=1.0", "training.crop=[32, 32]"]
    overrides += ["training.learning_rate=0.001", "training.low_crop=1"]
    overrides += ["training.validate_every=10", "training.validation_samples=1"]
    source = load_suite("upsample_depth", overrides)
    cell = source.cells("cpu", 1, {"method": "pac_lite", "factor": "4"})[0]
    cell = cell.model_copy(update={"params": {**cell.params, "start": None}})
    spec = source.suite.training
    assert spec is not None
    folder, best = run_training(cell, spec, tmp_path, "the command", quiet=True)
    rows = (folder / "log.csv").read_text().splitlines()[1:]
    scores = [float(row.split(",")[3]) for row in rows]
    assert len(scores) == 3
    assert best == scores[-1] > 0.8 * scores[0]  # scores are negated errors
    assert torch.load(folder / "weights.pt", weights_only=True).keys()
