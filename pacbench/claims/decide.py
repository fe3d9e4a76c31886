"""Whether claims hold: every pair of cells that can tell is compared, with its interval."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pacbench.claims.model import Claim
from pacbench.record import Record
from pacbench.report.compare import runtime_ratio
from pacbench.report.naming import axis_text, varying_axes
from pacbench.report.paper import paper_figures
from pacbench.report.run import Results
from pacbench.report.scores import evidence, same_inputs, score_of
from pacbench.timing.intervals import Estimate

Verdict = Literal["holds", "does not hold", "not decided"]

LEAST_BLOCKS = 3
"""Timed blocks of each image without which the interval of a ratio is not known."""


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
    return Decision(claim, verdict, comparisons)


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
        found = runtime_ratio(ours, theirs)
        if found is None:
            return None
        ratio, same_rounds = found
        if min(_blocks(ours), _blocks(theirs)) < LEAST_BLOCKS:
            ratio = Estimate(ratio.value, 0, math.inf)
        return ratio, "paired over timed rounds" if same_rounds else "timed apart"
    mine_exact, other_exact = (_exact(claim, record) for record in (ours, theirs))
    if not mine_exact or not other_exact:
        return None
    return Estimate(*[mine_exact / other_exact] * 3), "exact"


def _blocks(record: Record) -> int:
    """Timed blocks of the image that has fewest."""
    return min(map(len, record.timing.samples), default=0) if record.timing else 0


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
    points = "points" if score and score.unit == "%" else score.unit if score else ""
    data = ours.cell.data
    return Comparison(
        ours=ours.cell.label,
        theirs="the paper" if theirs is None else theirs.cell.label,
        at=", ".join(_place(axis, ours.cell.axes[axis]) for axis in swept),
        effect=effect,
        unit=points if claim.effect == "difference" else "×",
        how=how,
        where=f"{run.suite.name} ({data.name}, {data.split}, {len(ours.images)} images; "
        f"{ours.protocol})",
        above=claim.above,
        below=claim.below,
        verdict=verdict_on(effect, claim.above, claim.below),
    )


def _place(axis: str, value: Any) -> str:
    return f"{axis_text(value)}×" if axis == "factor" else f"{axis} {axis_text(value)}"


def _missing(claim: Claim, runs: Sequence[Results]) -> str:
    """Why no pair could be compared."""
    selections = [claim.ours, *([] if claim.theirs == "paper" else [claim.theirs])]
    for selection in selections:
        cells = [r for run in runs for r in run.records if selection.matches(r.cell)]
        wanted = selection.row if isinstance(selection.row, str) else " or ".join(selection.row)
        if not cells:
            return f"{wanted} was not measured"
        if not any(record.ok for record in cells):
            return f"{wanted} failed: {cells[0].status}"
    return "no two cells were given the same"
