"""How steady the clock was: the spread of every cell's timings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pacbench.report.build import chosen_rows
from pacbench.report.columns import significant
from pacbench.report.naming import name_of, varying_axes
from pacbench.report.plots.style import Looks, panels
from pacbench.report.run import Results
from pacbench.timing import Timing
from pacbench.timing.intervals import median

SHARES = ((5, 95, 1.5), (25, 75, 6.0))
"""Percentiles and the width of the line from one to the other."""

FEW = 5
"""Timed blocks of an image; fewer tell no distribution, two are symmetric about their median."""

FAR = 2
"""The axis ends at so many times the usual reach of a row."""

LINES = "thin: 5th to 95th percentile; thick: quartiles; black: 95 % interval of their median"
POINTS = f"points: blocks, where an image has fewer than {FEW}"


@dataclass(frozen=True)
class Spread:
    """Deviations of blocks from the median of their image, per cent.

    Attributes:
        few: whether there are too few of an image for more than points.
        low, high: the farthest that is drawn.
        interval: of their median, None for few.
    """

    deviations: NDArray[np.float64]
    few: bool
    low: float
    high: float
    interval: list[float] | None


def spread_of(timing: Timing) -> Spread:
    """The spread of a cell's blocks; the interval is over processes too."""
    shares: list[list[Any]] = [
        [np.asarray(blocks) / np.median(image) for blocks in processes]
        for image, processes in zip(timing.samples, timing.by_process(), strict=True)
    ]
    deviations = 100 * (np.concatenate([blocks for item in shares for blocks in item]) - 1)
    if min(map(len, timing.samples)) < FEW:
        return Spread(deviations, True, float(deviations.min()), float(deviations.max()), None)
    low, high = (float(bound) for bound in np.percentile(deviations, SHARES[0][:2]))
    _, *bounds = median(shares)
    return Spread(deviations, False, low, high, [100 * (bound - 1) for bound in bounds])


def timings(results: Results) -> Figure | None:
    """Timed blocks against the median of their image, a row per cell.

    Where one reaches much farther than the others, it leaves the axis, and its end is told.
    """
    records = chosen_rows(results)
    timed = [
        (record, record.timing)
        for record in records
        if record.timing and record.cell.method != "unary" and _repeated(record.timing)
    ]
    if not timed:
        return None
    axes = varying_axes(records)
    looks = Looks([record.cell.label for record, _ in timed])
    spreads = [spread_of(timing) for _, timing in timed]
    usual = FAR * float(np.median([max(-each.low, each.high) for each in spreads]))
    left = max(-usual, min(each.low for each in spreads))
    right = min(usual, max(each.high for each in spreads))
    with panels(1) as (figure, (panel,)):
        figure.set_size_inches(6.5, 1.0 + 0.26 * len(timed))
        margin = max(0.03 * (right - left), 0.01)
        panel.set_xlim(left - margin, right + margin)
        panel.axvline(0, color="grey", linewidth=0.8)
        for row, ((record, _), spread) in enumerate(zip(timed, spreads, strict=True)):
            _draw(panel, row, spread, looks[record.cell.label]["color"])
            _tell_ends(panel, row, spread, left, right)
        names = [f"{name_of(r, axes)}, {_milliseconds(timing.median)}" for r, timing in timed]
        panel.set_yticks(range(len(timed)), names, fontsize=7)
        panel.set_ylim(len(timed) - 0.5, -0.5)
        panel.set_xlabel("deviation of timed blocks from their image's median, %")
        kinds = dict.fromkeys(POINTS if spread.few else LINES for spread in spreads)
        panel.set_title("\n".join(kinds), fontsize=7)
    return figure


def _draw(panel: Axes, row: int, spread: Spread, colour: str) -> None:
    if spread.few:
        rows = np.full(spread.deviations.shape, row)
        panel.plot(spread.deviations, rows, "o", color=colour, markersize=3, alpha=0.4, mew=0)
        return
    for low, high, width in SHARES:
        reach = np.percentile(spread.deviations, [low, high])
        panel.plot(reach, [row, row], color=colour, linewidth=width, alpha=0.55)
    if spread.interval is not None:
        panel.plot(
            spread.interval, [row, row], color="black", linewidth=1.2, marker="|", markersize=5
        )


def _tell_ends(panel: Axes, row: int, spread: Spread, left: float, right: float) -> None:
    """How far what leaves the axis goes."""
    style: Any = {
        "fontsize": 6,
        "va": "center",
        "bbox": {"facecolor": "white", "pad": 0.5, "lw": 0},
    }
    if spread.low < left:
        panel.text(left, row, f"← {spread.low:+.0f} %", ha="left", **style)
    if spread.high > right:
        panel.text(right, row, f"{spread.high:+.0f} % →", ha="right", **style)


def _repeated(timing: Timing) -> bool:
    """Whether any image was timed more than once; else there is nothing to deviate from."""
    return max(map(len, timing.samples)) > 1


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.{significant(1e3 * seconds)}f} ms"
