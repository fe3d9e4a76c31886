"""Whether claims hold: every pair of cells that can tell is compared, with its interval."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal

from pacbench.claims.model import Claim
from pacbench.record import Record
from pacbench.report.compare import runtime_ratio
from pacbench.report.conditions import is_untrained
from pacbench.report.naming import axis_text, varying_axes
from pacbench.report.paper import paper_figures
from pacbench.report.run import Results
from pacbench.report.scores import evidence, same_inputs, score_of
from pacbench.timing.intervals import Estimate

Verdict = Literal["holds", "does not hold", "not decided"]


@dataclass(frozen=True)
class Comparison:
    """One pair of cells.

    Attributes:
        ours, theirs: what they are called; ``theirs`` may be the paper.
        at: what was swept, the factor for one.
        effect: difference or ratio, with its 95 % interval.
        unit: of the effect.
        how: what the interval is of.
        where: the suite, its data and the protocol.
        above, below: what the claim asks of the effect.
        untrained: those of a pair compared by score that learn, and were not trained.
    """

    ours: str
    theirs: str
    at: str
    effect: Estimate
    unit: str
    how: str
    where: str
    above: float | None
    below: float | None
    verdict: Verdict
    untrained: tuple[str, ...] = ()


@dataclass(frozen=True)
class Decision:
    """A claim, what became of it, and why."""

    claim: Claim
    verdict: Verdict
    comparisons: list[Comparison] = field(default_factory=list)
    reason: str = ""


def decide(claim: Claim, runs: Sequence[Results]) -> Decision:
    """Test a claim on all runs that mirror its table."""
    fitting = [run for run in runs if run.suite.paper_table == claim.table]
    if not fitting:
        return Decision(
            claim, "not decided", reason=f"not measured: no run with paper_table {claim.table}"
        )
    comparisons = [found for run in fitting for found in _comparisons(claim, run)]
    if not comparisons:
        return Decision(claim, "not decided", reason=_missing(claim, fitting))
    verdicts = [comparison.verdict for comparison in comparisons]
    verdict: Verdict = "holds"
    if "does not hold" in verdicts:
        verdict = "does not hold"
    elif "not decided" in verdicts:
        verdict = "not decided"
    absent = _absent(claim, fitting)
    if absent and verdict == "holds":  # a claim on all of them cannot hold without some
        verdict = "not decided"
    return Decision(
        claim, verdict, comparisons, f"not measured: {', '.join(absent)}" if absent else ""
    )


def verdict_on(effect: Estimate, above: float | None, below: float | None) -> Verdict:
    """The interval lies within the bounds, outside of them, or across one."""
    low, high = -math.inf if above is None else above, math.inf if below is None else below
    if effect.high <= low or effect.low >= high:
        return "does not hold"
    return "holds" if effect.low > low and effect.high < high else "not decided"


def _comparisons(claim: Claim, run: Results) -> Iterator[Comparison]:
    mine = [r for r in run.records if r.ok and claim.ours.matches(r.cell)]
    for ours in mine:
        if claim.theirs == "paper":
            figures = paper_figures(claim.table, ours.cell)
            stated = figures.parameters_k if figures else None
            if stated and ours.architecture:
                ratio = ours.architecture.parameters / 1e3 / stated
                yield _compared(claim, run, ours, None, Estimate(ratio, ratio, ratio), "exact")
            continue
        for theirs in run.records:
            if theirs.ok and claim.theirs.matches(theirs.cell) and _comparable(ours, theirs, claim):
                measured = _effect(claim, ours, theirs)
                if measured is not None:
                    yield _compared(claim, run, ours, theirs, *measured)


def _comparable(ours: Record, theirs: Record, claim: Claim) -> bool:
    """Given the same, and alike in all that was swept but the claim is not about."""
    about = set(claim.ours.model_extra or {})
    shared = (ours.cell.axes.keys() & theirs.cell.axes.keys()) - about
    alike = all(ours.cell.axes[axis] == theirs.cell.axes[axis] for axis in shared)
    return alike and same_inputs(ours, theirs) and ours.environment == theirs.environment


def _effect(claim: Claim, ours: Record, theirs: Record) -> tuple[Estimate, str] | None:
    if claim.quantity == "score":
        score = score_of([ours])
        mine, other = (evidence(r, score) if score else None for r in (ours, theirs))
        if mine is None or other is None:
            return None
        paired = (mine - other).estimate()
        return paired, f"paired over {len(mine.images)} images"
    if claim.quantity == "runtime":
        return runtime_ratio(ours, theirs)
    mine_exact, other_exact = (_exact(claim, record) for record in (ours, theirs))
    if not mine_exact or not other_exact:
        return None
    return Estimate(*[mine_exact / other_exact] * 3), "exact"


def _exact(claim: Claim, record: Record) -> float | None:
    if claim.quantity == "memory":
        return record.memory
    return record.architecture.parameters if record.architecture else None


def _compared(
    claim: Claim, run: Results, ours: Record, theirs: Record | None, effect: Estimate, how: str
) -> Comparison:
    about = set(claim.ours.model_extra or {})
    swept = [axis for axis in varying_axes(run.records) if axis in ours.cell.axes.keys() - about]
    score = score_of([ours])
    unit = score.difference_unit if score else ""
    pair = [record for record in (ours, theirs) if record and claim.quantity == "score"]
    data = ours.cell.data
    return Comparison(
        ours=ours.cell.label,
        theirs="the paper" if theirs is None else theirs.cell.label,
        at=", ".join(_place(axis, ours.cell.axes[axis]) for axis in swept),
        effect=effect,
        unit=unit if claim.effect == "difference" else "×",
        how=how,
        where=f"{run.suite.name} ({data.name}, {data.split}, {len(ours.images)} images; "
        f"{ours.protocol})",
        above=claim.above,
        below=claim.below,
        verdict=verdict_on(effect, claim.above, claim.below),
        untrained=tuple(dict.fromkeys(r.cell.label for r in pair if is_untrained(r))),
    )


def _place(axis: str, value: Any) -> str:
    return f"{axis_text(value)}×" if axis == "factor" else f"{axis} {axis_text(value)}"


def _absent(claim: Claim, runs: Sequence[Results]) -> list[str]:
    """Rows of the paper, or rows at some values, that the claim is about and no run has."""
    cells = [record.cell for run in runs for record in run.records if record.ok]
    places = [
        dict(zip(claim.each, values, strict=True)) for values in product(*claim.each.values())
    ]
    absent = []
    for selection in claim.selections:
        for row in selection.rows:
            there = [cell.facts() for cell in cells if cell.paper_row == row]
            gone = [place for place in places if not any(place.items() <= f.items() for f in there)]
            at = [_place(axis, value) for place in gone for axis, value in place.items()]
            if gone:
                absent.append(row if len(gone) == len(places) else f"{row} at {', '.join(at)}")
    return absent


def _missing(claim: Claim, runs: Sequence[Results]) -> str:
    """Why no pair could be compared."""
    for selection in claim.selections:
        cells = [r for run in runs for r in run.records if selection.matches(r.cell)]
        wanted = " or ".join(selection.rows)
        if not cells:
            return f"{wanted} was not measured"
        if not any(record.ok for record in cells):
            return f"{wanted} failed: {cells[0].status}"
    return "no two cells were given the same"
