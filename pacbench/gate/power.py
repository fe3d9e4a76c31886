"""What the gate can be trusted with on this machine: false alarms and power, from real pairs.

Whole runs of the gate are played many times over, each on pairs drawn from those of the self-test
and with the very decision that the gate takes, looks and limit of time included.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacbench.errors import UserError
from pacbench.gate.decide import LOOKS, Rule, Verdict, interval, sequential
from pacbench.gate.selftest import SLOWDOWNS, Pair

Array = NDArray[np.float64]

RUN_SECONDS = 300.0
"""The limit of time of a run, the gate's own unless it is told another."""
FEWEST_PAIRS = 10
COVERAGE_PAIRS = 13


class Rate(NamedTuple):
    """How often something happened, with its 95 % interval (Wilson's)."""

    hits: int
    of: int

    @property
    def value(self) -> float:
        return self.hits / self.of

    @property
    def interval(self) -> tuple[float, float]:
        z, n, p = 1.96, self.of, self.value
        middle, reach = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + (z / (2 * n)) ** 2)
        scale = 1 + z * z / n
        return max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.1%} ({low:.1%} to {high:.1%})"


def total(rates: Sequence[Rate]) -> Rate:
    """Of all of them together."""
    return Rate(sum(rate.hits for rate in rates), sum(rate.of for rate in rates))


@dataclass(frozen=True)
class Power:
    """What to expect of the gate for one benchmark.

    Attributes:
        slower, same: how often those are the verdict, for each of ``SLOWDOWNS``.
        injected: the slowdowns as the timings show them.
        covered: how often the 95 % interval of A against A holds the truth.
        pairs: that a decision on A against A took, on average.
    """

    benchmark: str
    slower: list[Rate]
    same: list[Rate]
    injected: list[float]
    covered: Rate
    pairs: float


@dataclass(frozen=True)
class Expected:
    """What to expect of the gate for a suite.

    Attributes:
        powers: by benchmark.
        false_alarms: runs of A against A that call any benchmark slower.
        seconds: of every run of A against A, as if all its pairs timed all benchmarks.
    """

    powers: list[Power]
    false_alarms: Rate
    seconds: list[float]


class _Run(NamedTuple):
    """A run of the gate as it was played: verdict and pairs of each benchmark."""

    verdicts: list[Verdict]
    pairs: list[int]
    seconds: float


def evaluate(pairs: Sequence[Pair], rule: Rule, trials: int, seed: int = 0) -> Expected:
    """Play ``trials`` runs of the gate for each slowdown.

    Pairs are drawn with replacement. Which side of A against A is called the candidate is drawn
    as well, so that the truth is 1 exactly; and what pairs with extra work say is moved as a whole
    so that its middle is the slowdown exactly, since work cannot be dosed that finely.
    """
    if len(pairs) < FEWEST_PAIRS:
        raise UserError(
            f"{len(pairs)} process pairs are too few to draw from, {FEWEST_PAIRS} are needed; "
            "give it more time with --budget, or run it again with the same --pool"
        )
    random = np.random.default_rng(seed)
    names = list(pairs[0].log_ratios)
    said = np.array([[pair.log_ratios[name] for name in names] for pair in pairs])
    seconds = np.array([pair.seconds for pair in pairs])
    middles = np.median(said, axis=0)  # by benchmark and slowdown, as all of them below
    moved = said - middles + np.log1p(SLOWDOWNS)
    moved[..., 0] = said[..., 0]
    runs = [
        [_play(moved[..., i], seconds, slowdown == 0, rule, random) for _ in range(trials)]
        for i, slowdown in enumerate(SLOWDOWNS)
    ]
    alike = runs[0]
    return Expected(
        powers=[
            Power(
                benchmark=name,
                slower=[_rate(played, at, "slower") for played in runs],
                same=[_rate(played, at, "same") for played in runs],
                injected=np.expm1(middles[at]).tolist(),
                covered=_covered(said[:, at, 0], trials, random),
                pairs=float(np.mean([run.pairs[at] for run in alike])),
            )
            for at, name in enumerate(names)
        ],
        false_alarms=Rate(sum("slower" in run.verdicts for run in alike), trials),
        seconds=[run.seconds for run in alike],
    )


def _play(
    pool: Array, seconds: Array, either_side: bool, rule: Rule, random: np.random.Generator
) -> _Run:
    """A run on drawn pairs (rows of ``pool``), each of which times all benchmarks."""
    drawn = random.integers(len(pool), size=LOOKS[-1])
    clock = seconds[drawn].cumsum()
    log_ratios = pool[drawn[clock <= RUN_SECONDS]]
    if either_side:
        log_ratios = log_ratios * random.choice([-1.0, 1.0], (len(log_ratios), 1))
    verdicts: list[Verdict] = ["undecided"] * pool.shape[1]
    taken = [max(len(log_ratios), 1)] * pool.shape[1]  # the first pair is always run
    if len(log_ratios) >= LOOKS[0]:
        ends = [sequential(column.tolist(), rule) for column in log_ratios.T]
        verdicts, taken = [verdict for verdict, _, _ in ends], [count for _, _, count in ends]
    return _Run(verdicts, taken, float(clock[max(taken) - 1]))


def _rate(runs: Sequence[_Run], at: int, verdict: Verdict) -> Rate:
    return Rate(sum(run.verdicts[at] == verdict for run in runs), len(runs))


def _covered(pool: Array, trials: int, random: np.random.Generator) -> Rate:
    """How often the 95 % interval of so many pairs of A against A holds 1."""
    hits = 0
    for _ in range(trials):
        drawn = random.choice(pool, COVERAGE_PAIRS) * random.choice([-1.0, 1.0], COVERAGE_PAIRS)
        estimate = interval(drawn.tolist(), 0.95)
        hits += estimate.low <= 1 <= estimate.high
    return Rate(hits, trials)
