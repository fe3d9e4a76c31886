"""Verdicts: intervals that hold, errors that stay within what was allowed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacbench.gate.decide import LOOKS, Rule, interval, pair_log_ratio, sequential

LOGS = st.floats(-0.5, 0.5)


def test_a_pair_says_the_ratio_of_its_rounds() -> None:
    weather = np.random.default_rng(0).lognormal(0, 0.5, 50)
    said = pair_log_ratio([weather.tolist(), (1.05 * weather).tolist()])
    assert math.exp(said) == pytest.approx(1.05)


def test_a_few_disturbed_rounds_change_nothing() -> None:
    disturbed = [1.0] * 90 + [30.0] * 10
    assert pair_log_ratio([[1.0] * 100, disturbed]) == 0
    assert pair_log_ratio([disturbed, [1.0] * 100]) == 0


@given(st.lists(LOGS, min_size=3, max_size=30))
def test_the_interval_turns_with_the_sides(logs: list[float]) -> None:
    there, back = interval(logs, 0.95), interval([-log for log in logs], 0.95)
    assert there.low <= there.value <= there.high
    assert back.value == pytest.approx(1 / there.value)
    assert back.low == pytest.approx(1 / there.high)


@given(st.lists(LOGS, min_size=5, max_size=30))
def test_more_confidence_is_wider(logs: list[float]) -> None:
    narrow, wide = interval(logs, 0.9), interval(logs, 0.999)
    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


def test_two_pairs_say_nothing_of_their_spread() -> None:
    with pytest.raises(ValueError, match="2 pairs say nothing"):
        interval([0.0, 0.1], 0.95)


@pytest.mark.parametrize("degrees", [2, 100])  # heavy tails and light ones
def test_the_interval_covers_the_truth(degrees: int) -> None:
    random = np.random.default_rng(4)
    trials = [0.02 * random.standard_t(degrees, 13) for _ in range(2000)]
    estimates = [interval(trial.tolist(), 0.95) for trial in trials]
    covered = np.mean([estimate.low <= 1 <= estimate.high for estimate in estimates])
    assert 0.93 <= covered <= 0.975


def spread(centre: float, count: int = LOOKS[-1]) -> list[float]:
    """Pairs that agree to within a per cent."""
    noise = np.random.default_rng(5).normal(0, 0.004, count)
    return (math.log(centre) + noise - noise.mean()).tolist()


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [(1.0, "same"), (1.05, "slower"), (1.5, "slower"), (0.9, "faster"), (1.01, "same")],
)
def test_verdicts(ratio: float, verdict: str) -> None:
    said, estimate, pairs = sequential(spread(ratio), Rule(benchmarks=6))
    assert said == verdict
    assert estimate.low < ratio < estimate.high
    assert pairs in LOOKS


def test_what_is_not_clear_is_undecided() -> None:
    random = np.random.default_rng(6)
    wild = random.normal(0, 0.5, LOOKS[-1]).tolist()
    assert sequential(wild, Rule())[0] == "undecided"
    assert sequential(wild[: LOOKS[0] + 1], Rule())[2] == LOOKS[0]  # no look lies between


def test_before_the_first_look_there_is_no_verdict() -> None:
    with pytest.raises(ValueError, match="5 pairs; the first look is after 6"):
        sequential(spread(2.0, LOOKS[0] - 1), Rule())


def test_a_clear_answer_comes_early() -> None:
    assert sequential(spread(2.0), Rule())[2] == LOOKS[0]


def test_more_benchmarks_and_more_looks_need_more_evidence() -> None:
    one, six = Rule(benchmarks=1), Rule(benchmarks=6)
    assert one.look_confidence < six.look_confidence
    assert 1 - one.look_confidence == pytest.approx(2 * 0.01 / len(LOOKS))


def test_false_alarms_stay_within_what_is_allowed() -> None:
    """Gaussian pairs of the spread that a noisy two-core machine shows."""
    random = np.random.default_rng(7)
    rule = Rule(benchmarks=6)
    verdicts = [
        sequential(random.normal(0, 0.03, LOOKS[-1]).tolist(), rule)[0] for _ in range(3000)
    ]
    assert verdicts.count("slower") / len(verdicts) <= 0.005
