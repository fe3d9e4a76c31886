"""From the times of process pairs to a verdict: slower, faster, same, or not known.

A pair says one number: the trimmed mean, over its rounds, of the logarithm of how many times as
long the candidate took. Rounds are short, so both sides of one see the same weather. Pairs are
independent, and what is said of all of them is their trimmed mean with an interval by Student's t
(Tukey and McLaughlin's), which a process of rare bad luck does not move.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from pacbench.gate.pairs import Times
from pacbench.timing.intervals import Estimate

Verdict = Literal["slower", "faster", "same", "undecided"]

LOOKS = (6, 9, 13, 19, 28)
"""Pairs after which a verdict may be given; the chance of an error is shared among them."""
ROUNDS_TRIMMED = 0.25
PAIRS_TRIMMED = 0.15
"""At either end: against rare bad luck. With more, the interval is too narrow where luck has few
states, as that of memory layout has; with less, a single bad pair keeps a benchmark undecided."""


@dataclass(frozen=True)
class Rule:
    """What the gate tolerates, and how sure it must be.

    Attributes:
        max_slowdown: the candidate may be slower by this share.
        same_within: at most so far from 1 may a ratio be that is said to be the same.
        confidence: that no benchmark of the suite is wrongly said to be slower; and as much that
            none is wrongly said to be faster.
        benchmarks: of the suite, over all of which the confidence holds.
    """

    max_slowdown: float = 0.01
    same_within: float = 0.04
    confidence: float = 0.99
    benchmarks: int = 1

    @property
    def look_confidence(self) -> float:
        """Of the interval at one look at one benchmark, so that the whole holds."""
        return 1 - 2 * (1 - self.confidence) / (self.benchmarks * len(LOOKS))

    def judge(self, log_ratios: Sequence[float]) -> tuple[Verdict, Estimate]:
        """The verdict so far, and the ratio with the interval that it rests on."""
        ratio = interval(log_ratios, self.look_confidence)
        return self.verdict(ratio), ratio

    def verdict(self, ratio: Estimate) -> Verdict:
        """What an interval says."""
        if ratio.low > 1 + self.max_slowdown:
            return "slower"
        if ratio.high < 1 / (1 + self.max_slowdown):
            return "faster"
        if 1 - self.same_within < ratio.low and ratio.high < 1 + self.same_within:
            return "same"
        return "undecided"


def pair_log_ratio(times: Times) -> float:
    """What one pair says: the log of how many times as long its second side took."""
    first, second = (np.asarray(side) for side in times)
    return float(stats.trim_mean(np.log(second / first), ROUNDS_TRIMMED))


def interval(log_ratios: Sequence[float], confidence: float) -> Estimate:
    """The ratio that independent pairs agree on, with its interval; needs three pairs."""
    ordered = np.sort(np.asarray(log_ratios))
    count = len(ordered)
    if count < 3:
        raise ValueError(f"{count} pairs say nothing of their spread; an interval needs three")
    cut = int(PAIRS_TRIMMED * count)
    kept = count - 2 * cut
    middle = float(ordered[cut : count - cut].mean())
    winsorised = np.clip(ordered, ordered[cut], ordered[count - cut - 1])
    error = float(winsorised.std(ddof=1)) * math.sqrt((count - 1) / (kept * (kept - 1)))
    reach = float(stats.t.ppf(0.5 + confidence / 2, kept - 1)) * error
    return Estimate(math.exp(middle), math.exp(middle - reach), math.exp(middle + reach))


def sequential(log_ratios: Sequence[float], rule: Rule) -> tuple[Verdict, Estimate, int]:
    """The verdict that a run of the gate ends with on these pairs, and how many it took.

    Raises ``ValueError`` for fewer pairs than the first look needs.
    """
    reached = [look for look in LOOKS if look <= len(log_ratios)]
    if not reached:
        raise ValueError(f"{len(log_ratios)} pairs; the first look is after {LOOKS[0]}")
    for look in reached:
        verdict, ratio = rule.judge(log_ratios[:look])
        if verdict != "undecided":
            break
    return verdict, ratio, look
