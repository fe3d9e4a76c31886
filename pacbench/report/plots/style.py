"""The house style: one look for all figures, colours that colour-blind readers tell apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from pacbench.colours import PLOT_COLOURS
from pacbench.timing.intervals import Estimate

DPI = 130
STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.3,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.markersize": 5,
    "lines.linewidth": 1.2,
    "savefig.dpi": DPI,
    "savefig.bbox": "tight",
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "pacbench",
    "svg.fonttype": "path",
}
MARKERS = "osD^vP*X<>"
PAPER = {"markerfacecolor": "white"}
"""What the paper prints is drawn hollow everywhere."""

LEGEND_LINE = 0.16
"""Inches."""

CLOSE, CROWDED = 10, {"x": 100, "y": 500}
"""From the end to the start of a logarithmic axis: below it has more ticks, above powers of ten."""

PANEL = (3.6, 3.0)
ALONE = (5.4, 3.8)
"""Inches, width and height of a panel beside others, and of one that is the whole figure."""


@contextmanager
def panels(columns: int, rows: int = 1, **changes: Any) -> Iterator[tuple[Figure, list[Axes]]]:
    """A figure of equal panels in the house style, row by row."""
    style: Any = {**STYLE, **changes}
    with mpl.rc_context(style):
        alone = columns == rows == 1
        size = ALONE if alone else (columns * PANEL[0], rows * PANEL[1])
        figure = Figure(figsize=size)
        grid = figure.subplots(rows, columns, squeeze=False)
        yield figure, list(np.ravel(grid))


def save(figure: Figure, target: Path | IO[bytes], kind: str) -> None:
    """Write a figure as png, pdf or svg, in the house style, undated.

    One that was laid out by hand stays as it is; of others, the margins are cut.
    """
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    margins = "tight" if figure.get_layout_engine() else "standard"
    with mpl.rc_context({**STYLE, "savefig.bbox": margins}):
        figure.savefig(target, format=kind, metadata=undated.get(kind))


class Looks:
    """One colour and marker per method in every panel of a figure.

    Args:
        names: in the order that the colours are given away.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(dict.fromkeys(names))

    def __getitem__(self, name: str) -> dict[str, Any]:
        if name not in self._names:
            self._names.append(name)
        index = self._names.index(name)  # 11 colours and 10 markers make 110 looks
        colour, marker = PLOT_COLOURS[index % len(PLOT_COLOURS)], MARKERS[index % len(MARKERS)]
        return {"color": colour, "marker": marker}


def reach(estimates: Sequence[Estimate]) -> Any:
    """Error bars (2, n) below and above; none (NaN) where a bound is not known."""
    bars = np.array([[e.value - e.low, e.high - e.value] for e in estimates]).T
    return np.where(np.isfinite(bars), bars, np.nan).clip(0)


def legend_below(figure: Figure, title: str | None = None) -> None:
    """One legend for all panels, beneath them, in as many columns as are wide enough.

    It shows lines and markers without error bars, whose caps would hide the markers.
    """
    shown: dict[str, Any] = {}
    for panel in figure.axes:
        for handle, name in zip(*panel.get_legend_handles_labels(), strict=True):
            bare = handle.lines[0] if isinstance(handle, ErrorbarContainer) else handle
            shown.setdefault(name, bare)
    columns = max(1, int(figure.get_figwidth() * 14 / (max(map(len, shown)) + 6)))
    columns = min(columns, len(shown))
    lines = -(-len(shown) // columns) + bool(title)
    figure.set_figheight(figure.get_figheight() + LEGEND_LINE * lines)
    figure.legend(
        shown.values(), list(shown), loc="outside lower center", ncols=columns,
        title=title, title_fontsize=7,
    )  # fmt: skip


def log_axis(panel: Axes, which: Literal["x", "y"], label: str) -> None:
    """A logarithmic axis with plain numbers at 1, 2 and 5; more if it is short, fewer if long."""
    axis = panel.xaxis if which == "x" else panel.yaxis
    panel.set(**{f"{which}scale": "log", f"{which}label": label})
    low, high = axis.get_view_interval()
    subs: tuple[float, ...] = (1, 2, 5) if high < CROWDED[which] * low else (1,)
    axis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7) if high < CLOSE * low else subs))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter("{x:g}")
