"""Intervals over images: the textbook's for means, honest for the mIoU of a split."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from pacbench.metrics.intervals import mean_iou_over, mean_over
from pacbench.metrics.segmentation import ConfusionMatrix

NAMES = [f"image-{index}" for index in range(40)]


def test_of_a_mean_it_is_students() -> None:
    values = np.random.default_rng(0).normal(3, 1, 7)
    found = mean_over(NAMES[:7], values.tolist()).estimate()
    low, high = stats.t.interval(0.95, 6, values.mean(), stats.sem(values))
    assert found == pytest.approx((values.mean(), low, high))


def test_pairs_take_out_what_images_share() -> None:
    random = np.random.default_rng(0)
    images, ours = random.normal(0, 10, 12), random.normal(1, 0.1, 12)
    better, base = mean_over(NAMES[:12], images + ours), mean_over(NAMES[:12], images)
    gain = (better - base).estimate()
    assert gain.low > 0.9
    assert better.estimate().low < base.estimate().high  # apart, nothing could be told
    assert (better * 100).estimate().value == pytest.approx(100 * better.whole)
    with pytest.raises(ValueError, match="same images"):
        better - mean_over(NAMES[1:13], images)


def test_one_image_tells_no_interval() -> None:
    found = mean_over(["a"], [2.0]).estimate()
    assert found == (2.0, -np.inf, np.inf)


def test_miou_is_that_of_the_summed_counts() -> None:
    random = np.random.default_rng(0)
    total, counts = ConfusionMatrix(4), []
    for _ in range(5):
        labels, output = random.integers(0, 3, (2, 20, 30))
        total.add(output, labels)
        counts.append(ConfusionMatrix(4).add(output, labels).intersections_and_unions())
    found = mean_iou_over(NAMES[:5], np.array(counts))
    assert found.whole == pytest.approx(total.mean_iou())
    rest = mean_iou_over(NAMES[:4], np.array(counts[1:]))
    assert found.without[0] == pytest.approx(rest.whole)


def draw(random: np.random.Generator, images: int, classes: int = 12) -> NDArray[np.int64]:
    """Images that hold some of the classes each, of any size, labelled well or badly."""
    counts = np.zeros((images, classes, 2), dtype=np.int64)
    for image in counts:
        present = random.choice(classes, random.integers(4, 9), replace=False)
        sizes = random.gamma(1, 5000, len(present)).astype(int) + 200
        image[present, 0] = sizes * random.beta(6, 4, len(present))
        image[present, 1] = sizes
    return counts


@pytest.mark.parametrize("images", [6, 20])
def test_intervals_of_miou_hold_the_truth(images: int) -> None:
    random = np.random.default_rng(1)
    world = draw(random, 4000)
    truth = mean_iou_over(NAMES[:1], world.sum(axis=0, keepdims=True)).whole
    held = 0
    for _ in range(300):
        chosen = world[random.choice(len(world), images, replace=False)]
        found = mean_iou_over(NAMES[:images], chosen).estimate()
        held += found.low <= truth <= found.high
    assert 0.92 <= held / 300 <= 1.0
