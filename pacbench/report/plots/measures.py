"""What figures show of a record: a value with its 95 % interval, unbounded where none is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from pacbench.record import Record
from pacbench.report.scores import Score, baseline_of, evidence, is_baseline, paired_estimate
from pacbench.timing.intervals import Estimate

Measure = Callable[[Record], Estimate | None]
GAIN = "gain in mIoU, percentage points"


def runtime_ms(record: Record) -> Estimate | None:
    if record.timing is None:
        return None
    middle = 1e3 * record.timing.median
    if record.timing.interval is None:  # too few timings to tell
        return alone(middle)
    low, high = record.timing.interval
    return Estimate(middle, 1e3 * low, 1e3 * high)


def memory_mb(record: Record) -> Estimate | None:
    """The peak of one call; it is measured once."""
    return alone(record.memory / 1e6) if record.memory else None


def paired_gain(
    record: Record, shown: Sequence[Record], pool: Sequence[Record], score: Score
) -> Estimate | None:
    """What a record adds to its baseline, paired with those it is shown with.

    The interval is that of the score, without what the images do to all that are shown: the
    baseline, which ``pool`` has, is the same for all of them.
    """
    base = baseline_of(record, pool)
    found = paired_estimate(record, shown, score)
    counted_from = evidence(base, score) if base else None
    if found is None or counted_from is None:
        return None
    return Estimate(*(bound - counted_from.whole for bound in found))


def without_baselines(shown: Sequence[Record], pool: Sequence[Record]) -> list[Record]:
    """Without unaries, which take no time and are what the others gain on."""
    return [r for r in shown if not (r.cell.task == "crf" and is_baseline(r, pool))]


def alone(value: float) -> Estimate:
    """A value that nothing is known of besides."""
    return Estimate(value, -math.inf, math.inf)
