"""Which cells a claim compares, and which of those that it is about are not there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from pacbench.claims.effects import Effect, between, to_paper
from pacbench.claims.model import Claim, Selection
from pacbench.record import Record
from pacbench.report.conditions import is_untrained
from pacbench.report.naming import axis_text, varying_axes
from pacbench.report.run import Results
from pacbench.report.scores import same_inputs


@dataclass(frozen=True)
class Pair:
    """Two cells that a claim compares.

    Attributes:
        run: that both are of.
        ours, theirs: their records; None for the paper's own figure.
        at: what was swept, the factor for one; the suite before it where several were run.
        untrained: those compared by score that learn, and were not trained.
        unstable: those compared by runtime whose timings are not to be trusted.
    """

    run: Results
    ours: Record
    theirs: Record | None
    at: str
    effect: Effect
    untrained: tuple[Record, ...] = ()
    unstable: tuple[Record, ...] = ()

    @property
    def records(self) -> list[Record]:
        return [self.ours] if self.theirs is None else [self.ours, self.theirs]

    @property
    def names(self) -> tuple[str, str]:
        """What the two are called."""
        return self.ours.cell.label, self.theirs.cell.label if self.theirs else "the paper"


def pairs(claim: Claim, runs: Sequence[Results]) -> Iterator[Pair]:
    """Every two cells of a run that were given the same and that the claim is about."""
    for run in runs:
        suite = [run.suite.name] if len(runs) > 1 else []
        for ours, theirs in _matching(claim, run):
            compared = [record for record in (ours, theirs) if record]
            effect = (
                between(claim.quantity, ours, theirs) if theirs else to_paper(claim.table, ours)
            )
            if effect is None:
                continue
            yield Pair(
                run,
                ours,
                theirs,
                at=", ".join([*suite, *_places(claim, run, ours)]),
                effect=effect,
                untrained=tuple(
                    r for r in compared if claim.quantity == "score" and is_untrained(r)
                ),
                unstable=tuple(
                    r
                    for r in compared
                    if claim.quantity == "runtime" and r.timing and r.timing.unstable
                ),
            )


def absent(claim: Claim, runs: Sequence[Results]) -> list[str]:
    """Rows of the paper, or rows at some values, that the claim is about and no run has."""
    cells = [record.cell for run in runs for record in run.records if record.ok]
    places = [
        dict(zip(claim.each, values, strict=True)) for values in product(*claim.each.values())
    ]
    gone = []
    for selection in claim.selections:
        for row in selection.rows:
            there = [cell.facts() for cell in cells if cell.paper_row == row]
            lacking = [p for p in places if not any(p.items() <= facts.items() for facts in there)]
            at = [_place(axis, value) for place in lacking for axis, value in place.items()]
            if lacking:
                gone.append(row if len(lacking) == len(places) else f"{row} at {', '.join(at)}")
    return gone


def missing(claim: Claim, runs: Sequence[Results]) -> str:
    """Why no pair could be compared."""
    if not runs:
        return f"not measured: no run with paper_table {claim.table}"
    for selection in claim.selections:
        records = [r for run in runs for r in run.records if selection.matches(r.cell)]
        wanted = " or ".join(selection.rows)
        if not records:
            return f"{wanted} was not measured"
        if not any(record.ok for record in records):
            return f"{wanted} failed: {records[0].status}"
    return "no two cells were given the same"


def _matching(claim: Claim, run: Results) -> Iterator[tuple[Record, Record | None]]:
    measured = [record for record in run.records if record.ok]
    for ours in measured:
        if not claim.ours.matches(ours.cell):
            continue
        if not isinstance(claim.theirs, Selection):
            yield ours, None
            continue
        for theirs in measured:
            if claim.theirs.matches(theirs.cell) and _comparable(ours, theirs, claim):
                yield ours, theirs


def _comparable(ours: Record, theirs: Record, claim: Claim) -> bool:
    """Given the same, and alike in all that was swept but the claim is not about."""
    shared = (ours.cell.axes.keys() & theirs.cell.axes.keys()) - claim.about
    alike = all(ours.cell.axes[axis] == theirs.cell.axes[axis] for axis in shared)
    return alike and same_inputs(ours, theirs) and ours.environment == theirs.environment


def _places(claim: Claim, run: Results, ours: Record) -> list[str]:
    axes = ours.cell.axes
    swept = [axis for axis in varying_axes(run.records) if axis in axes.keys() - claim.about]
    return [_place(axis, axes[axis]) for axis in swept]


def _place(axis: str, value: Any) -> str:
    return f"{axis_text(value)}×" if axis == "factor" else f"{axis} {axis_text(value)}"
