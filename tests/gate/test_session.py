"""A run of the gate: it asks for as much as it needs, within the time that it has."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pytest

from pacbench.gate import session
from pacbench.gate.decide import LOOKS, Rule
from pacbench.gate.pairs import Side, Times
from pacbench.session import plan
from pacbench.suite.cells import Cell

SIDES = (Side("main", "python"), Side("this version", "python"))
ROUNDS = 8


class MadeUp:
    """Pairs whose benchmarks take so many times as long, give or take; a clock that they move."""

    def __init__(self, ratios: list[float], spreads: list[float], seconds: float = 5.0) -> None:
        self.ratios, self.spreads, self.seconds = ratios, spreads, seconds
        self.random = np.random.default_rng(1)
        self.asked: list[list[int]] = []
        self.missing: dict[int, str] = {}
        self.now = 0.0

    def run(self, wanted: Iterable[int]) -> dict[int, list[Times]]:
        self.asked.append(list(wanted))
        self.now += self.seconds
        return {index: [self._times(index)] for index in self.asked[-1]}

    def _times(self, index: int) -> Times:
        luck = math.exp(self.random.normal(0, self.spreads[index]))
        return [[1.0] * ROUNDS, [luck * self.ratios[index]] * ROUNDS]


@pytest.fixture
def cells() -> list[Cell]:
    return plan("gate").cells[:3]


def run(
    pairs: MadeUp, cells: list[Cell], monkeypatch: pytest.MonkeyPatch, budget: float = 1000
) -> session.Report:
    monkeypatch.setattr(session, "Pairing", lambda *_, **__: pairs)
    monkeypatch.setattr("time.monotonic", lambda: pairs.now)
    return session.run(SIDES, cells, Rule(benchmarks=len(cells)), budget, print)


def test_what_is_decided_is_asked_no_more(
    cells: list[Cell], monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = MadeUp([1.0, 1.2, 1.0], [0.005, 0.005, 0.5])
    report = run(pairs, cells, monkeypatch)
    assert [finding.verdict for finding in report.findings] == ["same", "slower", "undecided"]
    assert [len(finding.log_ratios) for finding in report.findings] == [6, 6, LOOKS[-1]]
    assert pairs.asked == [[0, 1, 2]] * LOOKS[0] + [[2]] * (LOOKS[-1] - LOOKS[0])
    assert report.exit_code == 1


def test_all_the_same_ends_early_and_well(
    cells: list[Cell], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = run(MadeUp([1.0, 0.8, 1.0], [0.004] * 3), cells, monkeypatch)
    assert [finding.verdict for finding in report.findings] == ["same", "faster", "same"]
    assert report.exit_code == 0
    assert report.seconds == 5.0 * LOOKS[0]


def test_no_pair_is_started_that_would_pass_the_budget(
    cells: list[Cell], monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = MadeUp([1.0] * 3, [0.5] * 3, seconds=5.0)
    report = run(pairs, cells, monkeypatch, budget=52)
    assert len(pairs.asked) == 10  # the interval is of the look after nine
    assert report.seconds == 50
    assert report.exit_code == 3
    nine = run(MadeUp([1.0] * 3, [0.5] * 3), cells, monkeypatch, budget=45)
    assert [f.low for f in nine.findings] == [f.low for f in report.findings]
