"""Scores with their intervals over images, alone and against a baseline on the same images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from pacbench.metrics.intervals import Evidence, mean_iou_over, mean_over
from pacbench.record import Record
from pacbench.report.table import Better
from pacbench.timing.intervals import Estimate


@dataclass(frozen=True)
class Score:
    """How a metric is shown: scaled to its unit, with so many digits."""

    metric: str
    name: str
    unit: str
    scale: float
    digits: int
    better: Better

    @property
    def title(self) -> str:
        return f"{self.name}, {self.unit}"

    @property
    def difference_unit(self) -> str:
        """Per cents differ by points."""
        return "points" if self.unit == "%" else self.unit


SCORES = (
    Score("miou", "mIoU", "%", 100, 2, "more"),
    Score("rmse_cm", "RMSE", "cm", 1, 2, "less"),
    Score("epe", "EPE", "px", 1, 3, "less"),
)
EDGE = Score("edge_rmse_cm", "RMSE near edges", "cm", 1, 2, "less")


def score_of(records: Sequence[Record]) -> Score | None:
    """The main score of a task, as the first record that has one tells; None if none has."""
    for record in records:
        for score in SCORES:
            if score.metric in record.metrics:
                return score
    return None


def evidence(record: Record, score: Score) -> Evidence | None:
    """The score over the images of a record, in its unit; None for a cell that has none.

    An mIoU from records that did not keep the counts of their images has no interval: its
    evidence is of one image.
    """
    if not record.ok or score.metric not in record.metrics:
        return None
    images = [image for image in record.images if score.metric in image.metrics]
    names = [image.name for image in images]
    if score.metric != "miou":
        return mean_over(names, [image.metrics[score.metric] for image in images]) * score.scale
    if all(image.counts for image in images):
        return mean_iou_over(names, np.array([image.counts for image in images])) * score.scale
    whole = record.metrics["miou"]
    return Evidence(("all",), whole, np.array([whole])) * score.scale


def baseline_of(record: Record, records: Sequence[Record]) -> Record | None:
    """What gains are counted from: the unaries or the unchanged network, on the same data."""
    for other in records:
        if other.ok and is_baseline(other, records) and same_inputs(record, other):
            return other
    return None


def is_baseline(record: Record, records: Sequence[Record]) -> bool:
    """Whether a cell is what others are to improve: the unaries, or a hot-swap suite's first."""
    if record.cell.task == "hotswap":
        return record.cell.method == records[0].cell.method and record.id == records[0].id
    return record.cell.method == "unary"


def same_inputs(one: Record, other: Record) -> bool:
    """Whether two cells were given the same."""
    return all(
        getattr(one.cell, name) == getattr(other.cell, name)
        for name in ("task", "data", "seed", "protocol")
    )


def gain_over_baseline(record: Record, records: Sequence[Record], score: Score) -> Evidence | None:
    """What a cell adds to the score of its baseline, image by image."""
    base = baseline_of(record, records)
    if base is None or base.id == record.id:
        return None
    ours, theirs = evidence(record, score), evidence(base, score)
    return None if ours is None or theirs is None else ours - theirs


def paired_estimate(record: Record, records: Sequence[Record], score: Score) -> Estimate | None:
    """The score, with the interval of its difference to the mean of all methods on these images.

    Images differ far more than methods do on each of them; for comparing methods, which is what a
    figure is looked at for, what images share is taken out.
    """
    alone = evidence(record, score)
    if alone is None:
        return None
    found = [evidence(other, score) for other in records if same_inputs(record, other)]
    peers = [peer for peer in found if peer is not None and peer.images == alone.images]
    if len(peers) < 2:
        return alone.estimate()
    value, low, high = (alone - reduce(Evidence.__add__, peers) * (1 / len(peers))).estimate()
    return Estimate(alone.whole, alone.whole + low - value, alone.whole + high - value)
