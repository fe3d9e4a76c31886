"""Scores, time and memory against what a suite sweeps: factor, steps, dilation, size, classes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import linregress, t

from pacbench.record import Record
from pacbench.report.build import chosen_rows, column_names
from pacbench.report.naming import SIZE_AXIS, varying_axes
from pacbench.report.paper import paper_figures
from pacbench.report.plots.measures import (
    GAIN,
    Measure,
    alone,
    memory_mb,
    paired_gain,
    runtime_ms,
    without_baselines,
)
from pacbench.report.plots.names import legend_names, mark
from pacbench.report.plots.style import PAPER, Looks, legend_below, log_axis, panels, reach
from pacbench.report.run import Results
from pacbench.report.scores import paired_estimate, score_of
from pacbench.timing.intervals import Estimate

Curve = list[tuple[float, Record]]
Curves = dict[str, Curve]

DASHES = ("--", ":", "-.")
APART = 0.03
ASIDE = 0.4
"""Octaves from a method to the next: of those that stand beside each other at a factor, and of
those that stand aside of dilations."""

PAIRED = "bars: 95 %, paired over images"
OF_MEDIAN = "bars: 95 % of the median"
ONCE = "measured once, no interval"
ONE_KERNEL = "PAC-CRF, one dilation"


def against_factor(results: Results) -> Figure | None:
    """Error, runtime and memory of every method against the upsampling factor.

    Methods stand beside each other at each factor, so that their intervals can be told apart. The
    error is left out where the suite's table has no scores, as of untrained networks.
    """
    records = chosen_rows(results)
    score = score_of(records)
    curves = _curves(records, "factor")
    if score is None or not curves or results.suite.task != "upsample":
        return None
    factors = sorted({x for curve in curves.values() for x, _ in curve})
    measures: list[tuple[str, str, Measure]] = [
        ("runtime per image, ms", OF_MEDIAN, runtime_ms),
        ("peak memory of a call, MB", ONCE, memory_mb),
    ]
    if "score" in column_names(results.suite):
        paired = partial(paired_estimate, records=records, score=score)
        measures.insert(0, (score.title, PAIRED, paired))
    looks, shown = Looks(list(curves)), _side_by_side(curves)
    with panels(len(measures)) as (figure, axes):
        for panel, (label, title, measure) in zip(axes, measures, strict=True):
            _lines(panel, shown, measure, looks)
            log_axis(panel, "y", label)
            _factor_axis(panel, factors)
            panel.set_title(title)
        legend_below(figure)
    return figure


def against_steps(results: Results) -> Figure | None:
    """mIoU and runtime against mean-field steps: measured, and the paper's.

    The intervals of scores are paired over the steps of a method, which is what is compared here.
    """
    records = chosen_rows(results)
    score = score_of(records)
    curves = _curves(records, "steps")
    if score is None or not curves:
        return None
    looks = Looks(list(curves))
    paper = _paper_curves(results, curves)
    with panels(2, 2 if paper else 1) as (figure, axes):
        for name, curve in curves.items():
            sweep = [record for _, record in curve]
            paired = partial(paired_estimate, records=sweep, score=score)
            _lines(axes[0], {name: curve}, paired, looks)
        _lines(axes[1], curves, runtime_ms, looks)
        axes[0].set(ylabel=score.title, title=f"measured ({PAIRED})")
        axes[1].set(ylabel="runtime per image, ms", title=f"measured ({OF_MEDIAN})", ylim=(0, None))
        for panel, kind in zip(axes[2:], ("value", "runtime_ms"), strict=False):
            for name, points in paper.items():
                shown = [(x, getattr(figures, kind)) for x, figures in points]
                panel.plot(*zip(*shown, strict=True), **{**looks[name], **PAPER}, label=name)
            panel.set_title("the paper's, on its data and hardware")
        if paper:
            axes[2].set_ylabel("mIoU, %")
            axes[3].set(ylabel="runtime per image, ms", ylim=(0, None))
        for panel in axes:
            steps = sorted({int(x) for curve in curves.values() for x, _ in curve})
            panel.set_xticks(steps)
            panel.set_xlabel("mean-field steps, count")
        legend_below(figure)
    return figure


def against_dilation(results: Results) -> Figure | None:
    """Gain of PAC-CRF with one kernel against its dilation; other methods aside, lines across."""
    records = without_baselines(chosen_rows(results), results.records)
    score = score_of(records)
    if score is None:
        return None
    gains = {
        record.id: gain
        for record in records
        if (gain := paired_gain(record, records, results.records, score)) is not None
    }
    single = [
        (float(record.cell.params["dilations"][0]), record)
        for record in records
        if record.id in gains and len(record.cell.params.get("dilations", [])) == 1
    ]
    if len({dilation for dilation, _ in single}) < 3:
        return None
    single.sort(key=lambda pair: pair[0])
    swept = {record.id for _, record in single}
    others = [record for record in records if record.id in gains and record.id not in swept]
    name, names = f"{ONE_KERNEL}{mark([r for _, r in single])}", legend_names(others)
    looks = Looks([name, *names.values()])
    dilations = [x for x, _ in single]
    with panels(1) as (figure, (panel,)):
        _errorbars(panel, dilations, [gains[r.id] for _, r in single], looks[name], name)
        for number, record in enumerate(others, start=1):
            look, place = looks[names[record.id]], dilations[-1] * 2 ** (ASIDE * number)
            _errorbars(panel, [place], [gains[record.id]], look, names[record.id])
            panel.plot(
                [dilations[0], place], [gains[record.id].value] * 2, color=look["color"],
                linestyle=DASHES[number % len(DASHES)], linewidth=0.8, zorder=1,
            )  # fmt: skip
        panel.set_xscale("log", base=2)
        panel.set_xticks(dilations, [f"{x:g}" for x in dilations])
        panel.minorticks_off()
        panel.set_xlabel("dilation, pixels")
        panel.set_ylabel(GAIN)
        panel.set_title(f"measured ({PAIRED})")
        legend_below(figure)
    return figure


def against_size(results: Results) -> Figure | None:
    """Runtime and peak memory against pixels in log-log, with the exponents of power laws."""
    curves = _curves(chosen_rows(results), SIZE_AXIS, lambda size: float(np.prod(size)) / 1e6)
    return _scaling(curves, "image size, megapixels")


def against_classes(results: Results) -> Figure | None:
    """Runtime and peak memory against the number of classes, likewise."""
    return _scaling(_curves(chosen_rows(results), "data.classes"), "classes, count")


def _scaling(curves: Curves, label: str) -> Figure | None:
    curves = {name: curve for name, curve in curves.items() if curve[0][1].cell.method != "unary"}
    if not curves:
        return None
    looks = Looks(list(curves))
    named = {f"{name}: {_powers(curve)}": (name, curve) for name, curve in curves.items()}
    with panels(2) as (figure, axes):
        for panel, measure, axis, title in zip(
            axes,
            (runtime_ms, memory_mb),
            ("runtime per image, ms", "peak memory of a call, MB"),
            (OF_MEDIAN, ONCE),
            strict=True,
        ):
            for text, (name, curve) in named.items():
                _lines(panel, {text: curve}, measure, {text: looks[name]})
            log_axis(panel, "x", label)
            log_axis(panel, "y", axis)
            panel.set_title(title)
        what = label.partition(",")[0]
        legend_below(figure, f"fitted exponents of the {what} ± 95 %: of time; of memory")
    return figure


def _powers(curve: Curve) -> str:
    """``1.02 ± 0.10; 0.98 ± 0.02``: the exponents of time and of memory."""
    told = []
    for measure in (runtime_ms, memory_mb):
        points = [(x, found.value) for x, record in curve if (found := measure(record))]
        power = exponent(*zip(*points, strict=True)) if len(points) > 1 else alone(math.nan)
        bounded = math.isfinite(power.high)
        told.append(f"{power.value:.2f} ± {power.high - power.value:.2f}" if bounded else "–")
    return "; ".join(told)


def exponent(sizes: Sequence[float], values: Sequence[float]) -> Estimate:
    """The power of ``sizes`` that fits ``values`` best, by least squares of the logarithms.

    Its interval is Student's t of what the fit leaves; two points leave nothing, so that it is
    unbounded.
    """
    fit = linregress(np.log(sizes), np.log(values))
    if len(sizes) < 3:
        return alone(float(fit.slope))
    half = float(fit.stderr * t.ppf(0.975, len(sizes) - 2))
    return Estimate(float(fit.slope), float(fit.slope) - half, float(fit.slope) + half)


def _curves(
    records: Sequence[Record], axis: str, position: Callable[[Any], float] = float
) -> Curves:
    """Per method, its records along an axis; other axes stay at the value that most cells have."""
    if axis not in varying_axes(list(records)):
        return {}
    usual = {
        name: _commonest([r.cell.axes[name] for r in records if name in r.cell.axes])
        for name in varying_axes(list(records))
        if name != axis
    }
    along = [
        record
        for record in records
        if axis in record.cell.axes
        and record.ok
        and all(record.cell.axes.get(name, value) == value for name, value in usual.items())
    ]
    names = legend_names(along)
    curves: Curves = {}
    for record in along:
        place = position(record.cell.axes[axis])
        curves.setdefault(names[record.id], []).append((place, record))
    for curve in curves.values():
        curve.sort(key=lambda pair: pair[0])
    return {name: curve for name, curve in curves.items() if len(curve) > 1}


def _commonest(values: Sequence[Any]) -> Any:
    """The first of those that occur most."""
    return max(values, key=values.count)


def _side_by_side(curves: Curves) -> Curves:
    """The curves moved apart on a logarithmic axis, the middle one staying where it is."""
    middle = (len(curves) - 1) / 2
    return {
        name: [(x * 2 ** (APART * (number - middle)), record) for x, record in curve]
        for number, (name, curve) in enumerate(curves.items())
    }


def _lines(
    panel: Axes, curves: Curves, measure: Measure, looks: Looks | dict[str, dict[str, Any]]
) -> None:
    for name, curve in curves.items():
        points = [(x, found) for x, record in curve if (found := measure(record))]
        if points:
            _errorbars(panel, [x for x, _ in points], [e for _, e in points], looks[name], name)


def _errorbars(
    panel: Axes, xs: Sequence[float], estimates: Sequence[Estimate], look: Any, name: str
) -> None:
    middles = [estimate.value for estimate in estimates]
    panel.errorbar(
        xs, middles, yerr=reach(estimates), capsize=2, elinewidth=0.8, label=name, **look
    )


def _factor_axis(panel: Axes, factors: Sequence[float]) -> None:
    panel.set_xscale("log", base=2)
    panel.set_xticks(factors, [f"{factor:g}×" for factor in factors])
    panel.minorticks_off()
    panel.set_xlim(min(factors) / math.sqrt(1.5), max(factors) * math.sqrt(1.5))
    panel.set_xlabel("upsampling factor, ×")


def _paper_curves(results: Results, curves: Curves) -> dict[str, list[tuple[float, Any]]]:
    found = {
        name: [
            (x, figures)
            for x, record in curve
            if (figures := paper_figures(results.suite.paper_table, record.cell))
            and figures.runtime_ms is not None
        ]
        for name, curve in curves.items()
    }
    return {name: points for name, points in found.items() if len(points) > 1}
