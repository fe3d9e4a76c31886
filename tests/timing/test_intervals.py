"""Intervals that know of processes, and ratios that know of rounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacbench.timing.intervals import median, ratio, relative_half_width

SECONDS = st.floats(1e-6, 1e3)


@given(st.lists(st.lists(SECONDS, min_size=1, max_size=9), min_size=1, max_size=4))
def test_the_interval_lies_within_the_samples(processes: list[list[float]]) -> None:
    pooled = [seconds for process in processes for seconds in process]
    estimate = median([processes])
    assert estimate.value == np.median(pooled)
    assert min(pooled) <= estimate.low <= estimate.high <= max(pooled)


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


def test_half_width_shrinks_with_the_samples() -> None:
    random = np.random.default_rng(3)
    samples = random.normal(1, 0.05, 400).tolist()
    assert relative_half_width(samples[:2]) == math.inf
    assert relative_half_width(samples) < relative_half_width(samples[:20]) < 0.1
    assert relative_half_width([1.0] * 5) == 0
