"""Kernels against the most that the machine was measured to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pacbench.record import Record
from pacbench.report.build import chosen_rows
from pacbench.report.columns import estimated
from pacbench.report.naming import name_of, varying_axes
from pacbench.report.plots.measures import runtime_ms
from pacbench.report.plots.style import Looks, log_axis, panels, reach
from pacbench.report.run import Results
from pacbench.timing.intervals import Estimate
from pacbench.timing.peak import Peak

SIZE = (5.6, 4.0)
"""Inches of a panel, without the names beside it."""

BESIDE = 1.03
APART = 0.05
"""Of a panel's width and height: where names stand, and how far from each other."""


@dataclass(frozen=True)
class Work:
    """What a call did: FLOPs and bytes, and how many milliseconds it took."""

    name: str
    flops: float
    bytes: float
    runtime: Estimate

    @property
    def intensity(self) -> float:
        return self.flops / self.bytes

    def per_second(self, amount: float) -> Estimate:
        """Billions of something in a second; slow is low."""
        value, low, high = (amount / 1e6 / bound for bound in self.runtime)
        return Estimate(value, high, low)


def roofline(results: Results) -> Figure | None:
    """GFLOP/s against FLOPs per byte, under the roof of this machine; a panel per thread count.

    An operator without FLOPs, as a copy, has a bandwidth only: a line along which all operators of
    that bandwidth are.
    """
    records = chosen_rows(results)
    axes_names = [axis for axis in varying_axes(records) if axis != "threads"]
    shown = []
    for peak in results.peaks:
        limited = [r for r in records if peak.limits(r.cell.device, r.cell.threads)]
        if works := _works(limited, axes_names):
            shown.append((peak, works))
    if not shown:
        return None
    looks = Looks([work.name for _, works in shown for work in works])
    with panels(len(shown)) as (figure, axes):
        figure.set_size_inches(SIZE[0] * len(shown), SIZE[1])
        for panel, (peak, works) in zip(axes, shown, strict=True):
            _draw(panel, peak, works, looks)
    return figure


def _works(records: Sequence[Record], axes: list[str]) -> list[Work]:
    works = []
    for record in records:
        cost, runtime = record.cost, runtime_ms(record)
        if cost is not None and cost.bytes and runtime is not None:
            works.append(Work(name_of(record, axes), cost.flops, cost.bytes, runtime))
    return works if any(work.flops for work in works) else []


def _draw(panel: Axes, peak: Peak, works: Sequence[Work], looks: Looks) -> None:
    counted = [work for work in works if work.flops]
    ridge = peak.flops_per_second / peak.bytes_per_second
    intensities = [ridge, *(work.intensity for work in counted)]
    xs = np.geomspace(min(intensities) / 2, max(intensities) * 2, 256)
    roof = np.minimum(xs * peak.bytes_per_second, peak.flops_per_second) / 1e9
    panel.plot(xs, roof, color="black", linewidth=1)
    points = []
    for work in works:
        look = looks[work.name]
        if not work.flops:
            bandwidth = work.per_second(work.bytes)
            ys = xs[xs <= ridge] * bandwidth.value
            panel.plot(xs[: len(ys)], ys, color=look["color"], linestyle=":", linewidth=1)
            text = f"{work.name}:\n{estimated(bandwidth, 1).text} GB/s"
            points.append((xs[len(ys) - 1], ys[-1], text, look["color"]))
            continue
        rate = work.per_second(work.flops)
        panel.errorbar(
            work.intensity, rate.value, yerr=reach([rate]), capsize=2, linestyle="", alpha=0.7,
            **look,
        )  # fmt: skip
        points.append((work.intensity, rate.value, work.name, look["color"]))
    log_axis(panel, "x", "arithmetic intensity, FLOP/byte")
    log_axis(panel, "y", "rate, GFLOP/s")
    _name(panel, points)
    panel.set_title(
        f"{peak.threads} thread{'s' if peak.threads > 1 else ''}, measured peak (black): "
        f"{peak.flops_per_second / 1e9:.0f} GFLOP/s, {peak.bytes_per_second / 1e9:.1f} GB/s"
    )


def _name(panel: Axes, points: Sequence[tuple[float, float, str, Any]]) -> None:
    """Names beside the panel in the order of their points, each with a line to its own."""
    low, high = np.log(panel.get_ylim())
    ordered = sorted(points, key=lambda point: point[1])
    places = spaced([(np.log(y) - low) / (high - low) for _, y, _, _ in ordered], APART)
    for (x, y, text, colour), place in zip(ordered, places, strict=True):
        panel.annotate(
            text, (x, y), (BESIDE, place), textcoords="axes fraction", color=colour, fontsize=7,
            va="center", annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.5, "shrinkB": 3},
        )  # fmt: skip


def spaced(places: Sequence[float], apart: float) -> list[float]:
    """Ascending places in [0, 1], moved as little upwards as keeps them apart, then back from 1."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + apart) if moved else place)
    limit = 1.0
    for index in reversed(range(len(moved))):
        moved[index] = min(moved[index], limit)
        limit = moved[index] - apart
    return moved
