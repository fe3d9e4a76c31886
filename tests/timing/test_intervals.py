"""Intervals that know of processes, and ratios that know of rounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacbench.timing.intervals import Estimate, median, ratio, ratio_apart, relative_half_width

SECONDS = st.floats(1e-6, 1e3)


@given(st.lists(SECONDS, min_size=1, max_size=40), st.integers(1, 6))
def test_the_interval_of_a_process_lies_within_its_samples(
    samples: list[float], images: int
) -> None:
    items = [[samples[image::images]] for image in range(images)]
    estimate = median(items)
    assert estimate.value == np.median(samples)
    if len(samples) < 6:
        assert (estimate.low, estimate.high) == (0, math.inf)
    else:
        assert min(samples) <= estimate.low * (1 + 1e-9)
        assert estimate.low <= estimate.value <= estimate.high <= max(samples) * (1 + 1e-9)


@given(st.lists(st.lists(SECONDS, max_size=9), min_size=1, max_size=4).filter(any))
def test_the_interval_holds_the_value(processes: list[list[float]]) -> None:
    estimate = median([processes])
    assert 0 <= estimate.low <= estimate.value <= estimate.high


LAYOUTS = [(20, 1, 2), (6, 2, 1), (6, 3, 1), (1, 6, 1), (1, 34, 1), (40, 2, 2), (6, 2, 3)]
"""Images, blocks of each in a process, processes: as the suites have them."""

TRIALS = 250
LEAST_COVERED = 0.93
"""Of trials; 95 % less what so many can be off by chance."""


@pytest.mark.parametrize(
    ("images", "blocks", "processes", "apart", "luck"),
    [
        (*layout, apart, luck)
        for layout in LAYOUTS
        for apart in ((0.0, 0.2) if layout[0] > 1 else (0.0,))
        for luck in ((0.0, 0.05) if layout[2] > 1 else (0.0,))  # of one process, nothing tells it
    ],
)
def test_intervals_hold_the_true_median(
    images: int, blocks: int, processes: int, apart: float, luck: float
) -> None:
    """What differs does so symmetrically in the logarithm, so that the true median is 1."""
    random = np.random.default_rng(0)
    work = np.linspace(-apart, apart, images).reshape(-1, 1, 1)
    covered = 0
    for _ in range(TRIALS):
        noise = random.normal(0, 0.05, (images, processes, blocks))
        _, low, high = median(np.exp(work + random.normal(0, luck, (processes, 1)) + noise))
        assert math.isfinite(high)
        covered += low <= 1 <= high
    assert covered / TRIALS >= LEAST_COVERED


@pytest.mark.parametrize("count", [6, 12, 34])
def test_intervals_are_no_wider_than_they_need_be(count: int) -> None:
    """Noise of slow outliers, as clocks have it, and one process: 95 to 98 % of intervals."""
    random = np.random.default_rng(1)
    covered = 0
    for _ in range(600):
        noise = random.exponential(0.05, (1, 1, count)) - 0.05 * math.log(2)
        _, low, high = median(np.exp(noise))
        covered += low <= 1 <= high
    assert 0.93 <= covered / 600 <= 0.99


def test_too_few_rounds_tell_nothing() -> None:
    for items in ([[[1.0, 1.1, 1.2]]], [[[1.0], [1.1]]] * 2, [[[1.0]]]):
        assert median(items)[1:] == (0, math.inf)
        assert ratio(items, items) == (1, 0, math.inf)


def test_more_confidence_needs_more_rounds_and_reaches_farther() -> None:
    samples = np.exp(np.random.default_rng(4).normal(0, 0.1, 30)).tolist()
    usual, sure = median([[samples]]), median([[samples]], confidence=0.99)
    assert sure.low < usual.low < usual.high < sure.high
    assert math.isinf(median([[samples[:7]]], confidence=0.99).high)


def test_processes_that_differ_widen_the_interval() -> None:
    random = np.random.default_rng(0)
    alike = [random.normal(1, 0.01, 20).tolist() for _ in range(4)]
    apart = [random.normal(level, 0.01, 20).tolist() for level in (0.8, 0.9, 1.0, 1.1)]
    narrow, wide = median([alike]), median([apart])
    assert wide.high - wide.low > 10 * (narrow.high - narrow.low)


def test_weather_that_both_saw_leaves_the_ratio_alone() -> None:
    random = np.random.default_rng(1)
    weather = random.lognormal(0, 0.5, (2, 3, 30))  # items, processes, rounds
    ours, theirs = (1.2 * weather).tolist(), weather.tolist()
    assert ratio(ours, theirs) == pytest.approx((1.2, 1.2, 1.2))


def test_only_rounds_of_both_count() -> None:
    assert ratio([[[2.0, 2.0, 50.0]]], [[[1.0, 1.0]]]).value == pytest.approx(2)
    assert ratio([[[2.0], [9.0]]], [[[1.0], []]]).value == pytest.approx(2)
    with pytest.raises(ValueError, match="no round in which both were measured"):
        ratio([[[1.0]]], [[[]]])


def test_the_interval_of_a_ratio_covers_the_truth() -> None:
    """Over processes of their own luck: 95 % of intervals, give or take what 300 trials can."""
    random = np.random.default_rng(2)
    covered = 0
    for _ in range(300):
        luck = random.normal(0, 0.03, (1, 12, 1))
        rounds = random.normal(0, 0.05, (1, 12, 20))
        estimate = ratio(np.exp(luck + rounds).tolist(), np.ones((1, 12, 20)).tolist())
        covered += estimate.low <= 1 <= estimate.high
    assert 0.90 <= covered / 300 <= 0.99


def test_the_ratio_of_medians_apart_has_the_errors_of_both() -> None:
    random = np.random.default_rng(5)
    covered = 0
    for _ in range(400):
        ours, theirs = (median(np.exp(random.normal(0, s, (1, 1, 20)))) for s in (0.05, 0.1))
        estimate = ratio_apart(ours, theirs)
        assert estimate.value == ours.value / theirs.value
        covered += estimate.low <= 1 <= estimate.high
    assert 0.93 <= covered / 400 <= 0.99
    assert ratio_apart(Estimate(2, 1, 3), Estimate(1, 0, math.inf)) == (2, 0, math.inf)


def test_half_width_shrinks_with_the_samples() -> None:
    random = np.random.default_rng(3)
    samples = random.normal(1, 0.05, 400).tolist()
    assert relative_half_width(samples[:2]) == math.inf
    assert relative_half_width(samples) < relative_half_width(samples[:20]) < 0.1
    assert relative_half_width([1.0] * 5) == 0
