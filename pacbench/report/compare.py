"""Ratios with their intervals: methods of a run against each other, or runs against the first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.figure import Figure

from pacbench.colours import PLOT_COLOURS
from pacbench.errors import UserError
from pacbench.record import Record
from pacbench.report.naming import counted, name_of, varying_axes
from pacbench.report.plots.style import STYLE
from pacbench.report.run import Results
from pacbench.report.table import Column, Entry, Notes, Table
from pacbench.timing import Timing
from pacbench.timing.intervals import (
    CONFIDENCE,
    Estimate,
    median,
    ratio,
    ratio_apart,
    shared_rounds,
)


@dataclass(frozen=True)
class Comparison:
    """How many times as long ``ours`` takes as ``theirs``; paired if timed in the same rounds."""

    ours: str
    theirs: str
    ratio: Estimate
    paired: bool
    unstable: str


def compare(runs: Sequence[Results]) -> list[Comparison]:
    """One run: every method against the first of its race. More: each against the first run.

    Raises ``UserError`` where there is nothing to compare.
    """
    found = _within(runs[0]) if len(runs) == 1 else _between(runs)
    if not found:
        what = "two cells timed together" if len(runs) == 1 else "a cell that both runs have"
        raise UserError(f"nothing to compare: {what} would be needed")
    return found


def _within(run: Results) -> list[Comparison]:
    axes = varying_axes(run.records)
    first: dict[str, Record] = {}
    found = []
    for record in run.records:
        timing = record.timing
        if timing is None or record.cell.method == "unary":
            continue
        base = first.setdefault(timing.race, record)
        if base is record or base.timing is None:
            continue
        estimate = ratio(timing.by_process(), base.timing.by_process())
        names = name_of(record, axes), name_of(base, axes)
        found.append(Comparison(*names, estimate, True, _doubts(timing, base.timing)))
    return found


def _between(runs: Sequence[Results]) -> list[Comparison]:
    base = {key_of(record): record for record in runs[0].records if record.timing}
    found = []
    for run in runs[1:]:
        axes = varying_axes(run.records)
        for record in run.records:
            other = base.get(key_of(record))
            if record.timing is None or other is None or other.timing is None:
                continue
            ours = f"{name_of(record, axes)}, {run.folder.path.name}"
            estimate = _apart(record.timing, other.timing)
            doubts = _doubts(record.timing, other.timing)
            found.append(Comparison(ours, runs[0].folder.path.name, estimate, False, doubts))
    return found


def runtime_ratio(
    ours: Record, theirs: Record, confidence: float = CONFIDENCE
) -> tuple[Estimate, str] | None:
    """How many times as long ``ours`` takes, and what its interval is of.

    The interval is over the rounds in which both were timed, and over processes where there are
    several; where these are too few, it has no bounds. None where one of the two was not timed.
    """
    if ours.timing is None or theirs.timing is None:
        return None
    if not (ours.timing.race and ours.timing.race == theirs.timing.race):
        return _apart(ours.timing, theirs.timing, confidence), "timed apart"
    mine, other = ours.timing.by_process(), theirs.timing.by_process()
    rounds, images = shared_rounds(mine, other), counted(len(mine), "image")
    return ratio(mine, other, confidence), f"paired over {rounds} rounds of {images}"


def key_of(record: Record) -> str:
    """What makes cells of different runs the same, however they were timed."""
    cell = record.cell
    return cell.model_dump_json(
        include={"task", "method", "params", "axes", "backend", "device", "threads", "data", "seed"}
    )


def _apart(ours: Timing, theirs: Timing, confidence: float = CONFIDENCE) -> Estimate:
    return ratio_apart(*(median(t.by_process(), confidence) for t in (ours, theirs)))


def _doubts(*timings: Timing) -> str:
    return "; ".join(dict.fromkeys(timing.unstable for timing in timings if timing.unstable))


def comparison_table(comparisons: Sequence[Comparison]) -> Table:
    """A row per ratio; what makes it doubtful stands in the notes."""
    titles = ("takes, times as long", "95 % interval")
    columns = [Column("this", align="l"), Column("against", align="l"), *map(Column, titles)]
    notes = Notes()
    rows = []
    for c in comparisons:
        doubts = notes.mark(f"unstable timing: {c.unstable}" if c.unstable else "")
        row = [Entry(c.ours, c.ours), Entry(c.theirs, c.theirs)]
        row.append(Entry(f"{c.ratio.value:.3f}{doubts}", c.ratio.value))
        known = math.isfinite(c.ratio.high)
        interval = f"{c.ratio.low:.3f} to {c.ratio.high:.3f}" if known else "not known"
        rows.append([*row, Entry(interval)])
    paired = "timed in the same rounds, so that both saw the same weather"
    apart = "timed at different times: what the machine did meanwhile is part of the ratio"
    how = paired if all(c.paired for c in comparisons) else apart
    return Table("compare", "Runtime ratios", columns, rows, [*notes.lines(), how])


def forest(comparisons: Sequence[Comparison]) -> Figure:
    """The ratios and their intervals, one below the other."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.5, 0.8 + 0.32 * len(comparisons)))
        panel = figure.subplots()
        for row, c in enumerate(comparisons):
            colour = PLOT_COLOURS[1 if c.ratio.low > 1 else 2 if c.ratio.high < 1 else 0]
            if math.isfinite(c.ratio.high):
                panel.plot([c.ratio.low, c.ratio.high], [row, row], color=colour)
            panel.plot(c.ratio.value, row, "s", color=colour, markersize=4)
        panel.axvline(1, color="grey", linewidth=0.8)
        names = [f"{c.ours}\nagainst {c.theirs}" for c in comparisons]
        panel.set_yticks(range(len(comparisons)), names, fontsize=7)
        panel.set_ylim(len(comparisons) - 0.5, -0.5)
        panel.set_xscale("log")
        panel.xaxis.set_major_formatter("{x:g}")
        panel.xaxis.set_minor_formatter("{x:g}")
        panel.tick_params(axis="x", which="both", labelsize=7)
        panel.set_xlabel("takes so many times as long (95 % interval)")
    return figure
