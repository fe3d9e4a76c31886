"""Kernels against the most that the machine was measured to do."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pacbench.report.naming import name_of, varying_axes
from pacbench.report.plots.style import Looks, legend_below, log_axis, panels, reach
from pacbench.report.run import Results
from pacbench.timing.intervals import Estimate
from pacbench.timing.peak import Peak


def roofline(results: Results) -> Figure | None:
    """GFLOP/s against FLOPs per byte, under the roof of this machine; a panel per thread count."""
    costed = [r for r in results.records if r.timing and r.cost and r.cost.bytes and r.cost.flops]
    by_threads = {
        peak.threads: (peak, [r for r in costed if peak.limits(r.cell.device, r.cell.threads)])
        for peak in results.peaks
    }
    shown = [(peak, records) for peak, records in by_threads.values() if records]
    if not shown:
        return None
    axes_names = [axis for axis in varying_axes(results.records) if axis != "threads"]
    looks = Looks([name_of(record, axes_names) for record in costed])
    with panels(len(shown)) as (figure, axes):
        for panel, (peak, records) in zip(axes, shown, strict=True):
            intensities = []
            for record in records:
                name, cost, timing = name_of(record, axes_names), record.cost, record.timing
                if cost is None or timing is None:
                    continue
                flops = cost.flops / 1e9
                low, high = timing.interval or (timing.low, timing.high)
                rate = Estimate(flops / timing.median, flops / high, flops / low)
                intensity = cost.flops / cost.bytes
                intensities.append(intensity)
                panel.errorbar(
                    intensity, rate.value, yerr=reach([rate]), capsize=2, linestyle="",
                    label=name, **looks[name],
                )  # fmt: skip
            _roof(panel, peak, intensities)
            log_axis(panel, "x", "arithmetic intensity, FLOP/byte")
            log_axis(panel, "y", "rate, GFLOP/s")
            panel.set_title(
                f"{peak.threads} thread{'s' if peak.threads > 1 else ''}, measured peak: "
                f"{peak.flops_per_second / 1e9:.0f} GFLOP/s, {peak.bytes_per_second / 1e9:.1f} GB/s"
            )
        legend_below(figure)
    return figure


def _roof(panel: Axes, peak: Peak, intensities: list[float]) -> None:
    ridge = peak.flops_per_second / peak.bytes_per_second
    xs = np.geomspace(min([*intensities, ridge]) / 2, max([*intensities, ridge]) * 2, 64)
    roof = np.minimum(xs * peak.bytes_per_second, peak.flops_per_second) / 1e9
    panel.plot(xs, roof, color="black", linewidth=1, label="measured peak")
