"""Scores, time and memory against what a suite sweeps: factor, mean-field steps, dilation, size."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pacbench.record import Record
from pacbench.report.naming import varying_axes
from pacbench.report.paper import paper_figures
from pacbench.report.plots.style import PAPER, Looks, legend_below, log_axis, panels, reach
from pacbench.report.run import Results
from pacbench.report.scores import Score, evidence, gain_over_baseline, paired_estimate, score_of
from pacbench.timing.intervals import Estimate

Measure = Callable[[Record], Estimate | None]
Curves = dict[str, list[tuple[float, Record]]]


def against_factor(results: Results) -> Figure | None:
    """Error, runtime and memory of every method against the upsampling factor."""
    score = score_of(results.records)
    curves = _curves(results.records, "factor")
    if score is None or not curves or results.suite.task != "upsample":
        return None
    looks = Looks(list(curves))
    with panels(3) as (figure, axes):
        _lines(axes[0], curves, lambda r: paired_estimate(r, results.records, score), looks)
        _lines(axes[1], curves, runtime_ms, looks)
        _lines(axes[2], curves, memory_mb, looks)
        for panel, label in zip(
            axes, (score.title, "runtime per image, ms", "peak memory, MB"), strict=True
        ):
            log_axis(panel, "y", label)
            _factor_axis(panel, sorted({x for curve in curves.values() for x, _ in curve}))
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
        for record in others:
            gain, colour = gains[record.id], looks[record.cell.label]["color"]
            panel.axhline(gain.value, color=colour, linestyle="--", label=record.cell.label)
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
    """Runtime and peak memory against pixels in log-log, with the exponent of a power law."""
    curves = _curves(results.records, "data.size", lambda size: float(np.prod(size)) / 1e6)
    curves = {name: curve for name, curve in curves.items() if curve[0][1].cell.method != "unary"}
    if not curves:
        return None
    looks = Looks(list(curves))
    with panels(2) as (figure, axes):
        for panel, measure, label in zip(
            axes, (runtime_ms, memory_mb), ("runtime, ms", "peak memory, MB"), strict=True
        ):
            for name, curve in curves.items():
                points = [(x, found) for x, record in curve if (found := measure(record))]
                if len(points) < 2:
                    continue
                xs, estimates = [x for x, _ in points], [found for _, found in points]
                power = exponent(xs, [found.value for found in estimates])
                _errorbars(panel, xs, estimates, looks[name], f"{name}: size^{power:.2f}")
            log_axis(panel, "x", "image size, megapixels")
            log_axis(panel, "y", label)
            panel.legend()
    return figure


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
    """Per method, its records along an axis; other axes stay at their first value."""
    if axis not in varying_axes(list(records)):
        return {}
    others = [name for name in varying_axes(list(records)) if name != axis]
    firsts = {
        name: next(r.cell.axes[name] for r in records if name in r.cell.axes) for name in others
    }
    curves: Curves = {}
    for record in records:
        axes = record.cell.axes
        if axis in axes and record.ok and all(axes.get(n, v) == v for n, v in firsts.items()):
            curves.setdefault(record.cell.label, []).append((position(axes[axis]), record))
    for curve in curves.values():
        curve.sort(key=lambda pair: pair[0])
    return {name: curve for name, curve in curves.items() if len(curve) > 1}


def _lines(panel: Axes, curves: Curves, measure: Measure, looks: Looks) -> None:
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
