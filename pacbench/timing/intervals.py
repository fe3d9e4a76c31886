"""What samples say: medians and ratios with intervals that know of processes and of images.

Two things make a median uncertain, and its interval is that of the worse:

- Rounds differ. The interval of order statistics (the sign test's) makes no assumption of how:
  the number of samples below the true median is a sum of coin tosses. Where images differ in
  work, their coins are loaded, which is counted as far as there are samples to tell it.
- Processes differ: luck with memory and placement moves all samples of a process together. Only
  their own medians tell by how much, so there the interval is Student's over these. Two processes
  tell little; of one process, the interval says nothing of what another would be like.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ByProcess = Sequence[Sequence[float]]

CONFIDENCE = 0.95
Z95 = 1.96
TOSSES = 4
"""Fair tosses that are added to those of each image (Agresti and Coull), for few say little."""


class Estimate(NamedTuple):
    """A value and its 95 % interval; unbounded where too little was measured to tell it."""

    value: float
    low: float
    high: float


def median(items: Sequence[ByProcess], confidence: float = CONFIDENCE) -> Estimate:
    """The median over all samples of all items, with its interval.

    From 0 to infinity where there are too few samples for one: at 95 %, fewer than six.

    Args:
        items: per item (an image) and process, its samples, all above 0. Items are fixed, not
            drawn.
        confidence: of the interval.
    """
    pooled = np.concatenate([np.asarray(samples) for item in items for samples in item])
    value = float(np.median(pooled))
    logs = [[np.log(samples) for samples in item] for item in items]
    low, high = (math.exp(bound) for bound in _interval(logs, confidence))
    return Estimate(value, min(low, value), max(high, value))


def ratio(
    ours: Sequence[ByProcess], theirs: Sequence[ByProcess], confidence: float = CONFIDENCE
) -> Estimate:
    """How many times as long ``ours`` takes as ``theirs``, from samples of the same rounds.

    Both are per item and process, in the order of the rounds; rounds that only one of them had
    are left out. The interval is that of a median. Raises ``ValueError`` where they share none.
    """
    logs = [
        [_log_ratios(a, b) for a, b in zip(mine, other, strict=False)]
        for mine, other in zip(ours, theirs, strict=True)
    ]
    if not shared_rounds(ours, theirs):
        raise ValueError("no round in which both were measured")
    value = np.median(np.concatenate([process for item in logs for process in item]))
    return Estimate(*(math.exp(bound) for bound in (value, *_interval(logs, confidence))))


def shared_rounds(ours: Sequence[ByProcess], theirs: Sequence[ByProcess]) -> int:
    """In how many rounds both were measured."""
    return sum(
        min(len(a), len(b))
        for mine, other in zip(ours, theirs, strict=True)
        for a, b in zip(mine, other, strict=False)
    )


def ratio_apart(ours: Estimate, theirs: Estimate) -> Estimate:
    """The ratio of medians that were measured independently of each other.

    Its interval has the reaches of theirs, added as independent errors are (Zou and Donner).
    """
    value = ours.value / theirs.value
    if math.isinf(ours.high) or math.isinf(theirs.high):
        return Estimate(value, 0, math.inf)
    down = math.hypot(math.log(ours.value / ours.low), math.log(theirs.high / theirs.value))
    up = math.hypot(math.log(ours.high / ours.value), math.log(theirs.value / theirs.low))
    return Estimate(value, value * math.exp(-down), value * math.exp(up))


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


def _log_ratios(ours: Sequence[float], theirs: Sequence[float]) -> Array:
    shared = min(len(ours), len(theirs))
    return np.asarray(np.log(np.asarray(ours[:shared]) / np.asarray(theirs[:shared])))


def _interval(items: Sequence[Sequence[Array]], confidence: float) -> tuple[float, float]:
    """Of the median of all samples: what rounds tell, or processes where they tell less."""
    low, high = _over_rounds([np.concatenate(item) for item in items], confidence)
    medians = list(_medians_of_processes(items))
    if len(medians) < 2:
        return low, high
    from scipy.special import stdtrit  # slow to import, and workers need none of it

    reach = float(stdtrit(len(medians) - 1, 0.5 + confidence / 2))
    reach *= float(np.std(medians, ddof=1)) / math.sqrt(len(medians))
    middle = float(np.mean(medians))
    return min(low, middle - reach), max(high, middle + reach)


def _over_rounds(items: Sequence[Array], confidence: float) -> tuple[float, float]:
    """Order statistics, as far out as the number of samples below the median may vary."""
    pooled, counts = np.concatenate(items), np.array([len(samples) for samples in items])
    middle = np.median(pooled)
    tosses = (pooled < middle) + (pooled == middle) / 2
    below = np.bincount(np.repeat(np.arange(len(items)), counts), tosses, len(items))
    shares = (below + TOSSES / 2) / (counts + TOSSES)
    deviation = math.sqrt(np.sum(counts * shares * (1 - shares)))
    reach = NormalDist().inv_cdf(0.5 + confidence / 2) * deviation
    left_out = math.floor((len(pooled) - 1) / 2 - reach)
    if left_out < 0:
        return -math.inf, math.inf
    ordered = np.sort(pooled)
    return float(ordered[left_out]), float(ordered[-1 - left_out])


def _medians_of_processes(items: Sequence[Sequence[Array]]) -> Iterator[float]:
    for number in range(max(map(len, items))):
        pooled = np.concatenate([item[number] for item in items if number < len(item)])
        if len(pooled):
            yield float(np.median(pooled))
