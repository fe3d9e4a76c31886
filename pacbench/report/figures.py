"""Figures of a run, in one style."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.ticker import LogLocator, NullLocator

from pacbench.colours import PLOT_COLOURS
from pacbench.record import Record
from pacbench.report.naming import name_of, varying_axes
from pacbench.report.paper import paper_rows
from pacbench.report.scores import gain_over_unaries
from pacbench.suite.schema import Suite

STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.3,
    "savefig.dpi": 160,
    "savefig.bbox": "tight",
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "pacbench",
}


def trade_off(suite: Suite, records: list[Record], _: Path) -> Figure | None:
    """Gain over the unaries against runtime: what was measured, and what the paper prints."""
    points = [(r, gain) for r in records if (gain := gain_over_unaries(r, records)) is not None]
    if not points:
        return None
    paper = {
        name: row
        for name, row in paper_rows(suite.paper_table).items()
        if "gain_val" in row and "runtime_ms" in row
    }
    colours = _Colours(list(paper))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.6 if paper else 4, 3.2))
        panels = figure.subplots(1, 2 if paper else 1, squeeze=False)[0]
        _measured_panel(panels[0], points, varying_axes(records), colours)
        if paper:
            _paper_panel(panels[1], paper, colours)
        for panel in panels:
            _log_runtime_axis(panel)
            panel.set_ylabel("gain in mIoU, percentage points")
            panel.axhline(0, color="grey", linewidth=0.8)
            panel.margins(x=0.3, y=0.15)
    return figure


def timings(_: Suite, records: list[Record], __: Path) -> Figure | None:
    """Every timed run of every cell against its image's median: how steady the clock was."""
    timed = [(r, r.timing) for r in records if r.timing and r.cell.method != "unary"]
    if not timed:
        return None
    axes = varying_axes(records)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6, 0.8 + 0.4 * len(timed)))
        panel = figure.subplots()
        for row, (_record, timing) in enumerate(timed):
            for position, runs in enumerate(timing.samples):
                deviation = 100 * (np.asarray(runs) / np.median(runs) - 1)
                offset = 0.6 * ((position + 0.5) / len(timing.samples) - 0.5)
                colour = PLOT_COLOURS[row % len(PLOT_COLOURS)]
                panel.plot(deviation, np.full(len(runs), row + offset), "|", color=colour)
        names = [f"{name_of(r, axes)}, {1e3 * timing.median:.0f} ms" for r, timing in timed]
        panel.set_yticks(range(len(timed)), names)
        panel.set_ylim(len(timed) - 0.5, -0.5)
        panel.axvline(0, color="grey", linewidth=0.8)
        panel.set_xlabel("deviation of each run from its image's median, %")
    return figure


def picture_rows(_: Suite, records: list[Record], pictures: Path) -> Figure | None:
    """Image, truth and the output of every method, a row per kept sample."""
    samples = sorted(path for path in pictures.glob("*") if (path / "image.png").is_file())
    shown = [r for r in records if any((sample / f"{r.id}.png").is_file() for sample in samples)]
    if not shown:
        return None
    axes = varying_axes(records)
    panels = [("image", "image"), ("truth", "truth"), *((r.id, name_of(r, axes)) for r in shown)]
    height, width = imread(samples[0] / "image.png").shape[:2]
    with mpl.rc_context({**STYLE, "axes.grid": False}):
        size = (2 * len(panels), 2 * height / width * len(samples) + 0.25)
        figure = Figure(figsize=size)
        grid = figure.subplots(len(samples), len(panels), squeeze=False)
        for row, sample in zip(grid, samples, strict=True):
            for panel, (name, title) in zip(row, panels, strict=True):
                panel.axis("off")
                if (path := sample / f"{name}.png").is_file():
                    panel.imshow(imread(path))
                if sample is samples[0]:
                    panel.set_title(title, fontsize=8)
    return figure


class _Colours:
    """One colour per method in every panel: by its row in the paper, else by its name."""

    def __init__(self, known: list[str]) -> None:
        self._keys = known

    def __getitem__(self, key: str) -> str:
        if key not in self._keys:
            self._keys.append(key)
        return PLOT_COLOURS[self._keys.index(key) % len(PLOT_COLOURS)]


def _measured_panel(
    panel: Axes, points: list[tuple[Record, float]], axes: list[str], colours: _Colours
) -> None:
    for record, gain in points:
        timing, name = record.timing, name_of(record, axes)
        assert timing is not None  # noqa: S101, a gain is only known of a cell that ran
        low, middle, high = 1e3 * timing.low, 1e3 * timing.median, 1e3 * timing.high
        colour = colours[record.cell.paper_row or name]
        panel.errorbar(
            middle, gain, xerr=[[middle - low], [high - middle]], fmt="o", capsize=2, color=colour
        )
        _name_point(panel, name, middle, gain)
    panel.set_title("measured (bars: 5th to 95th percentile)")


def _paper_panel(panel: Axes, rows: dict[str, Any], colours: _Colours) -> None:
    for name, row in rows.items():
        panel.plot(
            row["runtime_ms"], row["gain_val"], "s", color=colours[name], markerfacecolor="white"
        )
        _name_point(panel, name, row["runtime_ms"], row["gain_val"])
    panel.set_title("the paper's figures (VOC val, its hardware)")


def _name_point(panel: Axes, name: str, x: float, y: float) -> None:
    panel.annotate(name, (x, y), (0, 6), textcoords="offset points", ha="center", fontsize=7)


def _log_runtime_axis(panel: Axes) -> None:
    panel.set_xscale("log")
    panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter("{x:g}")
    panel.set_xlabel("runtime per image, ms")


Draw = Callable[[Suite, list[Record], Path], Figure | None]
FIGURES: dict[str, dict[str, Draw]] = {
    "crf": {"trade-off": trade_off, "timings": timings, "pictures": picture_rows}
}
