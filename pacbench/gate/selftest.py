"""What the gate can be trusted with on this machine: false alarms and power, from real timings.

Pairs of this version against itself are timed as they are and with real extra work on one side;
then the gate's decision is taken many times over on pairs drawn from those.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from pacbench.errors import UserError
from pacbench.gate.decide import LOOKS, Rule, interval, pair_log_ratio, sequential
from pacbench.gate.pairs import Pairing, Side
from pacbench.gate.session import Say, name_of
from pacbench.report.formats import markdown
from pacbench.report.table import Column, Entry, Table
from pacbench.suite.cells import Cell

SLOWDOWNS = (0.0, 0.05, 0.10)
FEWEST_PAIRS = 10
COVERAGE_PAIRS = 13


class Pair(BaseModel):
    """What one process pair said.

    Attributes:
        log_ratios: by benchmark, one for each of ``SLOWDOWNS``.
        load: whether the other cores were kept busy.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    log_ratios: dict[str, list[float]]
    load: bool = False


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


def collect(
    side: Side, cells: Sequence[Cell], budget: float, say: Say, load: bool = False
) -> Iterator[Pair]:
    """Time pairs for so many seconds, each as it is and with every slowdown."""
    end = time.monotonic() + budget
    pairing = Pairing((side, side), cells, seed=time.time_ns(), load=load)
    names = [name_of(cell) for cell in cells]
    longest, count = 0.0, 0
    while time.monotonic() + longest < end:
        begin = time.monotonic()
        timed = pairing.run(range(len(cells)), SLOWDOWNS)
        log_ratios = {names[i]: [pair_log_ratio(t) for t in times] for i, times in timed.items()}
        yield Pair(log_ratios=log_ratios, load=load)
        longest, count = max(longest, time.monotonic() - begin), count + 1
        say(f"{count} pairs, {max(0.0, end - time.monotonic()):.0f} s left")


def read_pool(path: Path, load: bool, names: Collection[str]) -> list[Pair]:
    """Pairs of these benchmarks that were kept, with or without load; none without a file."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        pairs = [Pair.model_validate_json(line) for line in lines]
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]["msg"]
        raise UserError(f"{path}: is no pool of the self-test: {reason}") from None
    return [pair for pair in pairs if pair.load == load and pair.log_ratios.keys() == set(names)]


def add_to_pool(path: Path, pair: Pair) -> None:
    """Keep a pair, as a line after those that are there."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(pair.model_dump_json() + "\n")
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None


def evaluate(pairs: Sequence[Pair], rule: Rule, trials: int, seed: int = 0) -> list[Power]:
    """Take the gate's decision ``trials`` times for each benchmark and slowdown.

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
    return [_power(name, pairs, rule, trials, random) for name in pairs[0].log_ratios]


def _power(
    name: str, pairs: Sequence[Pair], rule: Rule, trials: int, random: np.random.Generator
) -> Power:
    pools = np.array([pair.log_ratios[name] for pair in pairs]).T
    slower, same, taken = [], [], []
    for slowdown, pool in zip(SLOWDOWNS, pools, strict=True):
        verdicts = []
        exact = pool - np.median(pool) + np.log1p(slowdown) if slowdown else pool
        for _ in range(trials):
            drawn = random.choice(exact, LOOKS[-1])
            if slowdown == 0:
                drawn = drawn * random.choice([-1.0, 1.0], LOOKS[-1])
            verdict, _, count = sequential(drawn.tolist(), rule)
            verdicts.append(verdict)
            if slowdown == 0:
                taken.append(count)
        slower.append(Rate(verdicts.count("slower"), trials))
        same.append(Rate(verdicts.count("same"), trials))
    covered = 0
    for _ in range(trials):
        drawn = random.choice(pools[0], COVERAGE_PAIRS)
        drawn = drawn * random.choice([-1.0, 1.0], COVERAGE_PAIRS)
        estimate = interval(drawn.tolist(), 0.95)
        covered += estimate.low <= 1 <= estimate.high
    injected = [float(np.expm1(np.median(pool))) for pool in pools]
    return Power(name, slower, same, injected, Rate(covered, trials), float(np.mean(taken)))


def as_markdown(powers: Sequence[Power], pairs: Sequence[Pair]) -> str:
    """What a user can expect here, from what these pairs said."""
    load = ", the other cores kept busy" if pairs[0].load else ""
    columns = [
        Column("benchmark", align="l"),
        Column("false alarms"),
        Column("called the same"),
        *(Column(f"+{slowdown:.0%} caught") for slowdown in SLOWDOWNS[1:]),
        Column("95 % interval holds"),
        Column("pairs"),
    ]
    rows = [
        [
            Entry(power.benchmark),
            Entry(str(power.slower[0])),
            Entry(str(power.same[0])),
            *(
                Entry(f"{rate}, measured {injected:+.1%}")
                for rate, injected in zip(power.slower[1:], power.injected[1:], strict=True)
            ),
            Entry(str(power.covered)),
            Entry(f"{power.pairs:.0f}"),
        ]
        for power in powers
    ]
    rows.append(
        [
            Entry("all"),
            Entry(str(_total([power.slower[0] for power in powers]))),
            Entry(str(_total([power.same[0] for power in powers]))),
            *(Entry(str(_total([p.slower[i] for p in powers]))) for i in range(1, len(SLOWDOWNS))),
            Entry(str(_total([power.covered for power in powers]))),
            Entry(f"{np.mean([power.pairs for power in powers]):.0f}"),
        ]
    )
    trials = powers[0].covered.of
    return markdown(
        Table(
            name="self-test",
            caption=f"What the gate can be trusted with on this machine{load}",
            columns=columns,
            rows=rows,
            notes=[
                f"{trials} decisions for each figure, drawn from {len(pairs)} real process pairs; "
                "in brackets, the 95 % interval of the rate",
                "caught: said to be slower, with real extra work of the candidate; measured: by "
                "how much that slowed it, before it was moved to the figure above",
            ],
        )
    )


def _total(rates: Sequence[Rate]) -> Rate:
    return Rate(sum(rate.hits for rate in rates), sum(rate.of for rate in rates))
