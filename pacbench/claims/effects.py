"""What two cells differ by, with an interval of any confidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pacbench.claims.model import Quantity
from pacbench.record import Record
from pacbench.report.compare import runtime_ratio
from pacbench.report.naming import counted
from pacbench.report.paper import paper_figures
from pacbench.report.scores import evidence, score_of
from pacbench.timing.intervals import Estimate


@dataclass(frozen=True)
class Effect:
    """A difference or a ratio.

    Attributes:
        unit: of the value; × for ratios.
        how: what its interval is of.
        at: the value with its two-sided interval, by confidence.
    """

    unit: str
    how: str
    at: Callable[[float], Estimate]


def between(quantity: Quantity, ours: Record, theirs: Record) -> Effect | None:
    """The difference of their scores, or the ratio of all else; None where one has no such."""
    if quantity == "score":
        return _of_scores(ours, theirs)
    if quantity == "runtime":
        return _of_times(ours, theirs)
    if quantity == "memory":
        return _without_interval(ours.memory, theirs.memory, "measured once")
    return _without_interval(_parameters(ours), _parameters(theirs), "exact")


def to_paper(table: str, ours: Record) -> Effect | None:
    """The parameters of a network over those that the paper prints; None where it prints none."""
    figures = paper_figures(table, ours.cell)
    printed = figures.parameters_k if figures else None
    return _without_interval(_parameters(ours), printed and 1e3 * printed, "exact")


def _of_scores(ours: Record, theirs: Record) -> Effect | None:
    score = score_of([ours])
    mine, other = (evidence(record, score) if score else None for record in (ours, theirs))
    if score is None or mine is None or other is None:
        return None
    how = f"paired over {counted(len(mine.images), 'image')}"
    return Effect(score.difference_unit, how, (mine - other).estimate)


def _of_times(ours: Record, theirs: Record) -> Effect | None:
    def measured(confidence: float) -> Estimate:
        found = runtime_ratio(ours, theirs, confidence)
        assert found is not None  # noqa: S101, both were timed
        return found[0]

    timed = runtime_ratio(ours, theirs)
    return Effect("×", timed[1], measured) if timed else None


def _without_interval(ours: float | None, theirs: float | None, how: str) -> Effect | None:
    if not ours or not theirs:
        return None
    ratio = ours / theirs
    return Effect("×", how, lambda _: Estimate(ratio, ratio, ratio))


def _parameters(record: Record) -> int | None:
    return record.architecture.parameters if record.architecture else None
