"""Results over commits: where a time has stepped up or down."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pacbench.colours import PLOT_COLOURS
from pacbench.report.compare import key_of
from pacbench.report.naming import name_of, varying_axes
from pacbench.report.plots.style import STYLE, reach
from pacbench.report.run import Results
from pacbench.report.table import Column, Entry, Notes, Table
from pacbench.timing.intervals import Estimate

LEAST_STEP = 0.03
NOISE_FACTOR = 4.0


@dataclass(frozen=True)
class Point:
    """The median of a cell at a commit, in seconds, its interval, and why not to trust it.

    Attributes:
        low, high: infinite where the interval is not known.
    """

    commit: str
    started: str
    median: float
    low: float
    high: float
    unstable: str


@dataclass(frozen=True)
class Series:
    """A cell on one CPU over time, and the positions at which a new level begins."""

    name: str
    cpu: str
    points: list[Point]
    steps: list[int]


def history(runs: Sequence[Results]) -> list[Series]:
    """Series by cell and CPU, oldest point first; times of different CPUs are never joined."""
    names: dict[tuple[str, str], str] = {}
    found: dict[tuple[str, str], list[Point]] = {}
    several = len({run.suite.name for run in runs}) > 1
    for run in runs:
        axes = varying_axes(run.records)
        suite = f"{run.suite.name}: " if several else ""
        for record in run.records:
            timing = record.timing
            if timing is None:
                continue
            cell = record.cell
            key = key_of(record), run.environment.cpu
            names[key] = f"{suite}{name_of(record, axes)} [{cell.backend}, {cell.threads} threads]"
            low, high = timing.interval or (-math.inf, math.inf)
            commit = (run.environment.commit or "no commit")[:10]
            point = Point(commit, record.started, timing.median, low, high, timing.unstable)
            found.setdefault(key, []).append(point)
    series = []
    for key, points in found.items():
        points.sort(key=lambda point: point.started)
        levels = steps([point.median for point in points])
        series.append(Series(names[key], key[1], points, levels))
    return series


def steps(values: Sequence[float]) -> list[int]:
    """Positions at which a lasting change begins, by binary segmentation of the logarithms.

    A step counts if it is larger than 3 % and than four times the noise of a mean, the noise being
    judged from differences of neighbours, which a step hardly moves.
    """
    logs = np.log(np.asarray(values))
    if len(logs) < 4:
        return []
    noise = float(np.median(np.abs(np.diff(logs)))) / (0.6745 * math.sqrt(2))
    found: list[int] = []
    _split(logs, 0, noise, found)
    return sorted(found)


def _split(logs: NDArray[np.float64], offset: int, noise: float, found: list[int]) -> None:
    count = len(logs)
    best, at = 0.0, 0
    for position in range(1, count):
        change = abs(float(np.median(logs[position:]) - np.median(logs[:position])))
        error = noise * math.sqrt(1 / position + 1 / (count - position))
        weight = change * math.sqrt(position * (count - position))
        if change > max(LEAST_STEP, NOISE_FACTOR * error) and weight > best:
            best, at = weight, position
    if at:
        found.append(offset + at)
        _split(logs[:at], offset, noise, found)
        _split(logs[at:], offset + at, noise, found)


def history_table(series: Sequence[Series]) -> Table:
    """A row per point, steps marked."""
    columns = [Column("cell", align="l"), Column("commit", align="l"), Column("started", align="l")]
    columns += [Column("time, ms"), Column("95 % interval"), Column("step")]
    notes = Notes()
    rows = []
    for line in series:
        for position, point in enumerate(line.points):
            step = _step(line, position) if position in line.steps else None
            doubts = notes.mark(f"unstable timing: {point.unstable}" if point.unstable else "")
            rows.append(
                [
                    Entry(line.name, line.name),
                    Entry(point.commit, point.commit),
                    Entry(point.started, point.started),
                    Entry(f"{1e3 * point.median:.3g}{doubts}", 1e3 * point.median),
                    Entry(_interval(point)),
                    Entry("–") if step is None else Entry(f"{step:+.1%}", step),
                ]
            )
    cpus = sorted({line.cpu for line in series})
    told = [*notes.lines(), f"on: {', '.join(cpus)}"]
    return Table("history", "Results over commits", columns, rows, told)


def _interval(point: Point) -> str:
    if math.isinf(point.high):
        return "not known"
    return f"{1e3 * point.low:.3g} to {1e3 * point.high:.3g}"


def _step(series: Series, position: int) -> float:
    """From the level before to the one that begins there."""
    bounds = [0, *series.steps, len(series.points)]
    at = bounds.index(position)
    medians = [point.median for point in series.points]
    before = np.median(medians[bounds[at - 1] : position])
    return float(np.median(medians[position : bounds[at + 1]]) / before - 1)


def history_figure(series: Sequence[Series]) -> Figure:
    """A panel per cell; levels between steps as lines."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.5, 1.6 * len(series) + 0.4))
        panels = figure.subplots(len(series), 1, squeeze=False)[:, 0]
        for panel, line in zip(panels, series, strict=True):
            positions = range(len(line.points))
            middle = np.array([1e3 * point.median for point in line.points])
            bars = 1e3 * reach([Estimate(p.median, p.low, p.high) for p in line.points])
            panel.errorbar(positions, middle, yerr=bars, fmt="o", capsize=2)
            bounds = [0, *line.steps, len(line.points)]
            for start, end in pairwise(bounds):
                level = np.median(middle[start:end])
                panel.plot([start - 0.3, end - 0.7], [level, level], color=PLOT_COLOURS[1])
            panel.set_title(line.name, fontsize=8)
            panel.set_ylabel("ms")
            panel.set_xticks(positions, [p.commit for p in line.points], fontsize=6, rotation=30)
    return figure
