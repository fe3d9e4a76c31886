"""Figures of a run: each drawn where its records allow for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from matplotlib.figure import Figure

from pacbench.report.plots.curves import (
    against_classes,
    against_dilation,
    against_factor,
    against_size,
    against_steps,
)
from pacbench.report.plots.pictures import pictures
from pacbench.report.plots.roofline import roofline
from pacbench.report.plots.spread import timings
from pacbench.report.plots.trade_off import trade_off
from pacbench.report.run import Results

FIGURES: dict[str, Callable[[Results], Figure | None]] = {
    "trade-off": trade_off,
    "factor": against_factor,
    "steps": against_steps,
    "dilation": against_dilation,
    "scaling": against_size,
    "classes": against_classes,
    "roofline": roofline,
    "timings": timings,
}


def figures_of(results: Results) -> Iterator[tuple[str, Figure]]:
    """Every figure that the records of a run give, by name."""
    for name, draw in FIGURES.items():
        figure = draw(results)
        if figure is not None:
            yield name, figure
    yield from pictures(results)
