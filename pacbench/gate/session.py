"""A run of the gate: pairs until every benchmark is decided or the time is up."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from pacbench.errors import UserError
from pacbench.gate.decide import LOOKS, Rule, pair_log_ratio, sequential
from pacbench.gate.pairs import Pairing, Side
from pacbench.process import ProcessFailedError
from pacbench.suite.cells import Cell


class Instructions(BaseModel):
    """Instructions of the native kernels in one call, by version."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    baseline: int
    candidate: int

    @property
    def ratio(self) -> float:
        return self.candidate / self.baseline


class Finding(BaseModel):
    """What the gate says of one benchmark.

    Attributes:
        ratio, low, high: how many times as long the candidate takes, with the interval that the
            verdict rests on; None for a benchmark that only one side has.
        log_ratios: what each pair said.
        instructions: None where they were not counted; they have no part in the verdict.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    benchmark: str
    verdict: Literal["slower", "faster", "same", "undecided", "not compared"]
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    log_ratios: list[float] = []
    instructions: Instructions | None = None
    note: str = ""


class Report(BaseModel):
    """What the gate says of all of them.

    Attributes:
        how: the times were compared.
        seconds: of timing.
        instructions: how they were counted, or why they were not; empty if not asked for.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    baseline: str
    candidate: str
    max_slowdown: float
    confidence: float
    how: str = "in alternating short blocks of fresh process pairs"
    seconds: float
    findings: list[Finding]
    instructions: str = ""

    @property
    def exit_code(self) -> int:
        """1 if anything is slower, 3 if anything is not known, else 0."""
        verdicts = {finding.verdict for finding in self.findings}
        return 1 if "slower" in verdicts else 3 if "undecided" in verdicts else 0


Say = Callable[[str], None]


def run(
    sides: tuple[Side, Side], cells: Sequence[Cell], rule: Rule, budget: float, say: Say
) -> Report:
    """Compare the second side with the first.

    Args:
        cells: the benchmarks.
        rule: when a verdict is given.
        budget: seconds; a pair is not started that would pass it.
        say: is told how far it has come.
    """
    start = time.monotonic()
    pairing = Pairing(sides, cells, seed=time.time_ns())
    log_ratios: list[list[float]] = [[] for _ in cells]
    open_ = list(range(len(cells)))
    slowest = 0.0
    while open_ and len(log_ratios[open_[0]]) < LOOKS[-1]:
        begin = time.monotonic()
        if begin + slowest > start + budget:
            break
        try:
            timed = pairing.run(open_)
        except ProcessFailedError as failure:
            raise UserError(f"a benchmark failed: {failure}\n{failure.tail}") from None
        slowest = max(slowest, time.monotonic() - begin)
        for index, times in timed.items():
            log_ratios[index].append(pair_log_ratio(times[0]))
        open_ = [i for i in open_ if i not in pairing.missing and not _decided(log_ratios[i], rule)]
        pairs = max(map(len, log_ratios))
        say(f"pair {pairs}: {len(cells) - len(open_)} of {len(cells)} benchmarks are decided")
    return Report(
        baseline=sides[0].name,
        candidate=sides[1].name,
        max_slowdown=rule.max_slowdown,
        confidence=rule.confidence,
        seconds=time.monotonic() - start,
        findings=[
            _finding(cell, log_ratios[i], rule, pairing.missing.get(i, ""))
            for i, cell in enumerate(cells)
        ],
    )


def _decided(log_ratios: Sequence[float], rule: Rule) -> bool:
    return len(log_ratios) in LOOKS and sequential(log_ratios, rule)[0] != "undecided"


def _finding(cell: Cell, log_ratios: list[float], rule: Rule, missing: str) -> Finding:
    name = name_of(cell)
    if missing:
        return Finding(benchmark=name, verdict="not compared", note=missing)
    if len(log_ratios) < LOOKS[0]:
        note = f"{len(log_ratios)} pairs in the time given; {LOOKS[0]} are needed at least"
        return Finding(benchmark=name, verdict="undecided", log_ratios=log_ratios, note=note)
    verdict, ratio, _ = sequential(log_ratios, rule)
    return Finding(
        benchmark=name,
        verdict=verdict,
        ratio=ratio.value,
        low=ratio.low,
        high=ratio.high,
        log_ratios=log_ratios,
    )


def name_of(cell: Cell) -> str:
    """The benchmark's name in reports: stable as long as the suite says the same."""
    swept = ", ".join(f"{axis} {value}" for axis, value in cell.axes.items())
    threads = f", {cell.threads} threads" if cell.threads > 1 else ""
    return f"{cell.label}{f' ({swept})' if swept else ''} [{cell.backend}{threads}]"
