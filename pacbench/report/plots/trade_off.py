"""Accuracy against runtime, and which methods no other beats at both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pacbench.record import Record
from pacbench.report.build import chosen_rows, column_names
from pacbench.report.naming import DATA_AXIS, axis_text, varying_axes
from pacbench.report.paper import PaperFigures, paper_figures
from pacbench.report.plots.measures import (
    GAIN,
    Measure,
    alone,
    paired_gain,
    runtime_ms,
    without_baselines,
)
from pacbench.report.plots.names import legend_names
from pacbench.report.plots.style import PAPER, Looks, legend_below, log_axis, panels, reach
from pacbench.report.run import Results
from pacbench.report.scores import Score, baseline_of, paired_estimate, score_of
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
    unaries, unless the paper prints their mIoU; the table of a suite that is not about scores, of
    untrained networks maybe, has none.
    """
    records = without_baselines(chosen_rows(results), results.records)
    score = score_of(records)
    axes_names = varying_axes(records)
    sizes_vary = any(axis.startswith(DATA_AXIS) for axis in axes_names)
    if score is None or sizes_vary or "score" not in column_names(results.suite):
        return None
    names = legend_names(records, [axis for axis in axes_names if axis != "factor"])
    printed = _printed(results.suite.paper_table, records)
    gains = _are_gains(printed, records, results.records)
    measure: Measure = partial(paired_estimate, records=records, score=score)
    if gains:
        measure = partial(paired_gain, shown=records, pool=results.records, score=score)
    measured = {
        title: points
        for title, shown in _panels_of(records).items()
        if len(points := _points(shown, names, measure)) > 1
    }
    if not measured:
        return None
    looks = Looks([point.name for points in measured.values() for point in points])
    with panels(len(measured) + bool(printed)) as (figure, axes):
        for panel, (title, points) in zip(axes, measured.items(), strict=False):
            _draw(panel, points, looks, score, hollow=False)
            panel.set_title(f"measured{title} (bars: 95 %, scores paired)")
        if printed:
            _draw(axes[-1], _paper_points(printed, names), looks, score, hollow=True)
            axes[-1].set_title("the paper's figures, its data and hardware")
        for panel in axes:
            panel.set_ylabel(GAIN if gains else score.title)
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


def _points(records: Sequence[Record], names: dict[str, str], measure: Measure) -> list[Point]:
    points = []
    for record in records:
        score, runtime = measure(record), runtime_ms(record)
        if score is not None and runtime is not None:
            points.append(Point(names[record.id], runtime, score))
    return points


def _printed(table: str | None, records: Sequence[Record]) -> list[tuple[Record, PaperFigures]]:
    """What the paper prints of these records, where it has both a score and a runtime."""
    found = [(record, paper_figures(table, record.cell)) for record in records]
    return [
        (record, figures)
        for record, figures in found
        if figures and figures.value is not None and figures.runtime_ms is not None
    ]


def _paper_points(
    printed: Sequence[tuple[Record, PaperFigures]], names: dict[str, str]
) -> list[Point]:
    return [
        Point(names[record.id], alone(figures.runtime_ms or 0), alone(figures.value or 0))
        for record, figures in printed
    ]


def _are_gains(
    printed: Sequence[tuple[Record, PaperFigures]],
    records: Sequence[Record],
    pool: Sequence[Record],
) -> bool:
    """Whether scores are shown as gains: as the paper prints them, so that both are the same."""
    if printed:
        return all(str(figures.score).startswith("+") for _, figures in printed)
    return any(record.cell.task == "crf" and baseline_of(record, pool) for record in records)


def _draw(panel: Axes, points: list[Point], looks: Looks, score: Score, hollow: bool) -> None:
    pairs = [(point.runtime.value, point.score.value) for point in points]
    front = [pairs[i] for i in pareto(pairs, score.better == "more")]
    if len(front) > 1:  # a single point is no line
        panel.step(
            *zip(*front, strict=True), where="post", color="grey", linewidth=0.8, linestyle="--",
            zorder=1, label="Pareto front",
        )  # fmt: skip
    for point in points:
        look = {**looks[point.name], **(PAPER if hollow else {})}
        panel.errorbar(
            point.runtime.value, point.score.value, xerr=reach([point.runtime]),
            yerr=reach([point.score]), capsize=2, linestyle="", elinewidth=0.8, label=point.name,
            **look,
        )  # fmt: skip
    log_axis(panel, "x", "runtime per image, ms")
    panel.margins(x=0.1, y=0.1)
