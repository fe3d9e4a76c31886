"""Accuracy against runtime, and which methods no other beats at both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pacbench.record import Record
from pacbench.report.build import column_names
from pacbench.report.naming import DATA_AXIS, axis_text, name_of, varying_axes
from pacbench.report.paper import paper_figures
from pacbench.report.plots.curves import runtime_ms
from pacbench.report.plots.style import PAPER, Looks, legend_below, log_axis, panels, reach
from pacbench.report.run import Results
from pacbench.report.scores import Score, gain_over_baseline, paired_estimate, score_of
from pacbench.timing.intervals import Estimate


@dataclass(frozen=True)
class Point:
    """A method's score and its runtime in milliseconds."""

    name: str
    runtime: Estimate
    score: Estimate


def trade_off(results: Results) -> Figure | None:
    """Score against runtime with the Pareto front: measured, and as the paper prints it.

    A panel per factor, where methods upsample by several. CRFs are shown by what they gain on the
    unaries; the table of a suite that is not about scores, of untrained networks maybe, has none.
    """
    score = score_of(results.records)
    sizes_vary = any(axis.startswith(DATA_AXIS) for axis in varying_axes(results.records))
    if score is None or sizes_vary or "score" not in column_names(results.suite):
        return None
    gains = results.suite.task == "crf" and _has_gains(results.records, score)
    measured = {
        title: points
        for title, records in _panels_of(results.records).items()
        if len(points := _points(records, results.records, score, gains)) > 1
    }
    if not measured:
        return None
    paper = _paper_points(results)
    looks = Looks([point.name for points in measured.values() for point in points])
    with panels(len(measured) + bool(paper)) as (figure, axes):
        for panel, (title, points) in zip(axes, measured.items(), strict=False):
            _draw(panel, points, looks, score, hollow=False)
            panel.set_title(f"measured{title} (95 % intervals, paired)")
            panel.set_ylabel(_ylabel(score, gains))
        if paper:
            _draw(axes[-1], paper, looks, score, hollow=True)
            axes[-1].set_title("the paper's figures, its data and hardware")
            axes[-1].set_ylabel(_ylabel(score, any(p.score.value < 20 for p in paper)))
        legend_below(figure)
    return figure


def pareto(points: Sequence[tuple[float, float]], more_is_better: bool) -> list[int]:
    """Positions of the points (runtime, score) that no other beats at both, fastest first."""
    sign = -1 if more_is_better else 1
    order = sorted(range(len(points)), key=lambda i: (points[i][0], sign * points[i][1]))
    front: list[int] = []
    best = np.inf
    for index in order:
        value = sign * points[index][1]
        if value < best:
            best = value
            front.append(index)
    return front


def _panels_of(records: Sequence[Record]) -> dict[str, list[Record]]:
    if "factor" not in varying_axes(list(records)):
        return {"": list(records)}
    split: dict[str, list[Record]] = {}
    for record in records:
        heading = f", {axis_text(record.cell.axes['factor'])}×"
        split.setdefault(heading, []).append(record)
    return split


def _has_gains(records: Sequence[Record], score: Score) -> bool:
    return any(gain_over_baseline(record, records, score) for record in records)


def _named(record: Record, records: Sequence[Record]) -> str:
    return name_of(record, [axis for axis in varying_axes(list(records)) if axis != "factor"])


def _points(
    shown: Sequence[Record], records: Sequence[Record], score: Score, gains: bool
) -> list[Point]:
    points = []
    for record in shown:
        gained = gain_over_baseline(record, records, score) if gains else None
        found = gained.estimate() if gained else None
        if not gains:
            found = paired_estimate(record, records, score)
        runtime = runtime_ms(record)
        if found is not None and runtime is not None:
            points.append(Point(_named(record, records), runtime, found))
    return points


def _paper_points(results: Results) -> list[Point]:
    points = []
    for record in results.records:
        figures = paper_figures(results.suite.paper_table, record.cell)
        if figures is None or figures.value is None or figures.runtime_ms is None:
            continue
        runtime = Estimate(*[figures.runtime_ms] * 3)
        name = _named(record, results.records)
        points.append(Point(name, runtime, Estimate(*[figures.value] * 3)))
    return points


def _ylabel(score: Score, gain: bool) -> str:
    return "gain in mIoU, percentage points" if gain else score.title


def _draw(panel: Axes, points: list[Point], looks: Looks, score: Score, hollow: bool) -> None:
    pairs = [(point.runtime.value, point.score.value) for point in points]
    front = pareto(pairs, score.better == "more")
    panel.step(
        [pairs[i][0] for i in front],
        [pairs[i][1] for i in front],
        where="post",
        color="grey",
        linewidth=0.8,
        linestyle="--",
        zorder=1,
        label="Pareto front",
    )
    for point in points:
        look = {**looks[point.name], **(PAPER if hollow else {})}
        panel.errorbar(
            point.runtime.value,
            point.score.value,
            xerr=None if hollow else reach([point.runtime]),
            yerr=None if hollow else reach([point.score]),
            capsize=2,
            linestyle="",
            elinewidth=0.8,
            label=point.name,
            **look,
        )
    log_axis(panel, "x", "runtime per image, ms")
    panel.margins(x=0.1, y=0.1)
