"""How steady the clock was: the spread of every cell's timings."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from pacbench.report.columns import significant
from pacbench.report.naming import name_of, varying_axes
from pacbench.report.plots.style import Looks, panels
from pacbench.report.run import Results

SHARES = ((5, 95, 1.5), (25, 75, 6.0))
"""Percentiles and the width of the line from one to the other."""


def timings(results: Results) -> Figure | None:
    """Timed blocks against the median of their image: 5-95 % thin, quartiles thick, CI in black."""
    timed = [(r, r.timing) for r in results.records if r.timing and r.cell.method != "unary"]
    if not timed:
        return None
    axes = varying_axes(results.records)
    looks = Looks([record.cell.label for record, _ in timed])
    with panels(1) as (figure, (panel,)):
        figure.set_size_inches(6.5, 0.8 + 0.26 * len(timed))
        for row, (record, timing) in enumerate(timed):
            blocks = [np.asarray(item) / np.median(item) for item in timing.samples]
            deviations = 100 * (np.concatenate(blocks) - 1)
            colour = looks[record.cell.label]["color"]
            for low, high, width in SHARES:
                reach = np.percentile(deviations, [low, high])
                panel.plot(reach, [row, row], color=colour, linewidth=width, alpha=0.55)
            bounds = timing.interval or (timing.low, timing.high)
            interval = [100 * (bound / timing.median - 1) for bound in bounds]
            panel.plot(interval, [row, row], color="black", linewidth=1.2, marker="|", markersize=5)
        names = [f"{name_of(r, axes)}, {_milliseconds(timing.median)}" for r, timing in timed]
        panel.set_yticks(range(len(timed)), names, fontsize=7)
        panel.set_ylim(len(timed) - 0.5, -0.5)
        panel.axvline(0, color="grey", linewidth=0.8)
        panel.set_xlabel("deviation of timed blocks from their image's median, %")
        lines = "thin: 5th to 95th percentile; thick: quartiles; black: 95 % interval of the median"
        panel.set_title(lines, fontsize=7)
    return figure


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.{significant(1e3 * seconds)}f} ms"
