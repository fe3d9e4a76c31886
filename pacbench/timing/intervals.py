"""What samples say: medians and ratios with intervals that know of processes.

A process's luck (memory layout, placement) moves all of its samples together, so samples are kept
by process and the bootstrap draws processes first, then samples within each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ByProcess = Sequence[Sequence[float]]

DRAWS = 1000
Z95 = 1.96


class Estimate(NamedTuple):
    """A value and its 95 % interval."""

    value: float
    low: float
    high: float


def median(items: Sequence[ByProcess], seed: int = 0) -> Estimate:
    """The median over all samples of all items, with a hierarchical bootstrap interval.

    Args:
        items: per item (an image) and process, its samples. Items are fixed, not drawn.
        seed: of the draws.
    """
    pooled = np.concatenate([np.asarray(samples) for item in items for samples in item])
    low, high = np.percentile(bootstrapped_medians(items, seed), [2.5, 97.5])
    return Estimate(float(np.median(pooled)), float(low), float(high))


def ratio(ours: Sequence[ByProcess], theirs: Sequence[ByProcess], seed: int = 0) -> Estimate:
    """How many times as long ``ours`` takes as ``theirs``, from samples of the same rounds.

    Both are per item and process, in the order of the rounds; rounds that only one of them had
    are left out. Raises ``ValueError`` where they share none.
    """
    logs = [
        [_log_ratios(a, b) for a, b in zip(mine, other, strict=False)]
        for mine, other in zip(ours, theirs, strict=True)
    ]
    if not any(len(process) for item in logs for process in item):
        raise ValueError("no round in which both were measured")
    return Estimate(*(math.exp(bound) for bound in median(logs, seed)))


def relative_half_width(samples: Sequence[float]) -> float:
    """Half the 95 % interval of the median, by order statistics, as a share of the median.

    Quick enough to be asked after every round; infinite for fewer than three samples.
    """
    count = len(samples)
    if count < 3:
        return math.inf
    ordered = np.sort(samples)
    reach = Z95 * math.sqrt(count) / 2
    low = max(0, math.floor(count / 2 - reach))
    high = min(count - 1, math.ceil(count / 2 + reach))
    return float((ordered[high] - ordered[low]) / 2 / np.median(ordered))


def _log_ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    shared = min(len(ours), len(theirs))
    logs: list[float] = np.log(np.asarray(ours[:shared]) / np.asarray(theirs[:shared])).tolist()
    return logs


def bootstrapped_medians(items: Sequence[ByProcess], seed: int) -> Array:
    """Medians of ``DRAWS`` draws: processes with replacement, then samples within each."""
    random = np.random.default_rng(seed)
    processes = max(len(item) for item in items)
    drawn = random.integers(processes, size=(DRAWS, processes))
    columns = []
    for item in items:
        held = [np.asarray(samples) for samples in item if len(samples)]
        if not held:
            continue
        lengths = np.array([len(samples) for samples in held])
        padded = np.zeros((len(held), lengths.max()))
        for row, samples in zip(padded, held, strict=True):
            row[: len(samples)] = samples
        for slot in range(processes):
            rows = drawn[:, slot] % len(held)
            picks = random.random((DRAWS, lengths.max())) * lengths[rows, None]
            columns.append(padded[rows[:, None], picks.astype(int)])
    return np.asarray(np.median(np.concatenate(columns, axis=1), axis=1))
