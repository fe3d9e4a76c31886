"""Scores, time and memory against what a suite sweeps: factor, steps, dilation, size, classes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pacbench.record import Record
from pacbench.report.build import column_names
from pacbench.report.naming import SIZE_AXIS, varying_axes
from pacbench.report.paper import paper_figures
from pacbench.report.plots.style import PAPER, Looks, legend_below, log_axis, panels, reach
from pacbench.report.run import Results
from pacbench.report.scores import Score, evidence, gain_over_baseline, paired_estimate, score_of
from pacbench.timing.intervals import Estimate

Measure = Callable[[Record], Estimate | None]
Curve = list[tuple[float, Record]]
Curves = dict[str, Curve]

DASHES = ("--", ":", "-.")
APART = 0.03
"""Octaves from a method to the next, of those that stand beside each other at a factor."""


def against_factor(results: Results) -> Figure | None:
    """Error, runtime and memory of every method against the upsampling factor.

    Methods stand beside each other at each factor, so that their intervals can be told apart. The
    error is left out where the suite's table has no scores, as of untrained networks.
    """
    score = score_of(results.records)
    curves = _curves(results.records, "factor")
    if score is None or not curves or results.suite.task != "upsample":
        return None
    factors = sorted({x for curve in curves.values() for x, _ in curve})
    measures: list[tuple[str, str, Measure]] = [
        ("runtime per image, ms", "95 % intervals", runtime_ms),
        ("peak memory, MB", "of one call", memory_mb),
    ]
    if "score" in column_names(results.suite):
        paired = partial(paired_estimate, records=results.records, score=score)
        measures.insert(0, (score.title, "95 % intervals, paired", paired))
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
    """mIoU and runtime against mean-field steps: measured, and the paper's."""
    score = score_of(results.records)
    curves = _curves(results.records, "steps")
    if score is None or not curves:
        return None
    looks = Looks(list(curves))
    paper = _paper_curves(results, curves)
    with panels(2, 2 if paper else 1) as (figure, axes):
        _lines(axes[0], curves, lambda r: _with_gain_bars(r, results, score), looks)
        _lines(axes[1], curves, runtime_ms, looks)
        axes[0].set(ylabel=score.title, title="measured (bars: 95 % of the gain)")
        axes[1].set(
            ylabel="runtime per image, ms", title="measured (95 % intervals)", ylim=(0, None)
        )
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
    """Gain of PAC-CRF with one kernel against its dilation; other methods as lines across."""
    score = score_of(results.records)
    if score is None:
        return None
    gains = {
        record.id: gained.estimate()
        for record in results.records
        if (gained := gain_over_baseline(record, results.records, score)) is not None
    }
    single = [
        (record.cell.params["dilations"][0], record)
        for record in results.records
        if record.id in gains and len(record.cell.params.get("dilations", [])) == 1
    ]
    if len({dilation for dilation, _ in single}) < 3:
        return None
    single.sort(key=lambda pair: pair[0])
    shown = {record.id for _, record in single}
    others = [r for r in results.records if r.id in gains and r.id not in shown]
    looks = Looks(["PAC-CRF, one dilation", *(record.cell.label for record in others)])
    with panels(1) as (figure, (panel,)):
        estimates = [gains[record.id] for _, record in single]
        name = "PAC-CRF, one dilation"
        _errorbars(panel, [x for x, _ in single], estimates, looks[name], name)
        for number, record in enumerate(others):
            gain, colour = gains[record.id], looks[record.cell.label]["color"]
            dashes = DASHES[number % len(DASHES)]
            panel.axhline(gain.value, color=colour, linestyle=dashes, label=record.cell.label)
            if np.isfinite(gain.high - gain.low):
                panel.axhspan(gain.low, gain.high, color=colour, alpha=0.08, linewidth=0)
        panel.set_xscale("log", base=2)
        panel.set_xticks([x for x, _ in single], [str(x) for x, _ in single])
        panel.minorticks_off()
        panel.set_xlabel("dilation, pixels")
        panel.set_ylabel("gain in mIoU, percentage points")
        panel.set_title("measured (95 % intervals over images)")
        legend_below(figure)
    return figure


def against_size(results: Results) -> Figure | None:
    """Runtime and peak memory against pixels in log-log, with the exponents of power laws."""
    curves = _curves(results.records, SIZE_AXIS, lambda size: float(np.prod(size)) / 1e6)
    return _scaling(curves, "image size, megapixels")


def against_classes(results: Results) -> Figure | None:
    """Runtime and peak memory against the number of classes, likewise."""
    return _scaling(_curves(results.records, "data.classes"), "classes, count")


def _scaling(curves: Curves, label: str) -> Figure | None:
    curves = {name: curve for name, curve in curves.items() if curve[0][1].cell.method != "unary"}
    if not curves:
        return None
    looks = Looks(list(curves))
    named = {f"{name}: {_powers(curve)}": (name, curve) for name, curve in curves.items()}
    with panels(2) as (figure, axes):
        for panel, measure, title in zip(
            axes, (runtime_ms, memory_mb), ("runtime, ms", "peak memory, MB"), strict=True
        ):
            for text, (name, curve) in named.items():
                _lines(panel, {text: curve}, measure, {text: looks[name]})
            log_axis(panel, "x", label)
            log_axis(panel, "y", title)
        what = label.partition(",")[0]
        legend_below(figure, f"fitted exponents of the {what}: of time, of memory")
    return figure


def _powers(curve: Curve) -> str:
    """``1.02, 0.98``: the exponents of time and of memory; a dash where there are no two points."""
    told = []
    for measure in (runtime_ms, memory_mb):
        points = [(x, found.value) for x, record in curve if (found := measure(record))]
        told.append(f"{exponent(*zip(*points, strict=True)):.2f}" if len(points) > 1 else "–")
    return ", ".join(told)


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The power of ``sizes`` that fits ``values`` best, by least squares of the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def runtime_ms(record: Record) -> Estimate | None:
    timing = record.timing
    if timing is None:
        return None
    low, high = timing.interval or (timing.low, timing.high)
    return Estimate(1e3 * timing.median, 1e3 * low, 1e3 * high)


def memory_mb(record: Record) -> Estimate | None:
    """The peak of one call; it has no spread worth a bar."""
    if not record.memory:
        return None
    return Estimate(*[record.memory / 1e6] * 3)


def _with_gain_bars(record: Record, results: Results, score: Score) -> Estimate | None:
    """The score, with the interval of its gain over the baseline, where there is one."""
    alone = evidence(record, score)
    gained = gain_over_baseline(record, results.records, score)
    if alone is None or gained is None:
        return alone.estimate() if alone else None
    value, low, high = gained.estimate()
    return Estimate(alone.whole, alone.whole + low - value, alone.whole + high - value)


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
    curves: Curves = {}
    for record in records:
        axes = record.cell.axes
        if axis in axes and record.ok and all(axes.get(n, v) == v for n, v in usual.items()):
            curves.setdefault(record.cell.label, []).append((position(axes[axis]), record))
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
