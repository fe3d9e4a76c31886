"""Timing of one cell: warm-up, timed runs, and what their spread says."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

UNSTABLE_SPREAD = 0.05


class Timing(BaseModel):
    """Seconds of every timed run of a cell and their summary.

    Attributes:
        samples: one list per data sample, one entry per timed run.
        median, minimum: over all runs.
        mad: median absolute deviation from each data sample's own median, so that samples that
            differ in work do not count as noise.
        low, high: 5th and 95th percentile.
        unstable: why the measurement should not be trusted, empty if it can be.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    samples: list[list[float]]
    median: float
    mad: float
    minimum: float
    low: float
    high: float
    unstable: str = ""

    @classmethod
    def of(cls, samples: list[list[float]]) -> Timing:
        runs = np.concatenate([np.asarray(s) for s in samples])
        residuals = np.concatenate([np.asarray(s) - np.median(s) for s in samples])
        median, mad = float(np.median(runs)), float(np.median(np.abs(residuals)))
        low, high = (float(q) for q in np.percentile(runs, [5, 95]))
        return cls(
            samples=samples,
            median=median,
            mad=mad,
            minimum=float(runs.min()),
            low=low,
            high=high,
            unstable=_instability(len(runs), median, mad),
        )


def _instability(count: int, median: float, mad: float) -> str:
    if count < 3:
        return f"{count} timed run{'s' if count > 1 else ''}: the spread is not known"
    if mad > UNSTABLE_SPREAD * median:
        return f"MAD is {mad / median:.0%} of the median"
    return ""


def time_runs(run: Callable[[], Any], repeats: int) -> tuple[list[float], Any]:
    """Seconds of ``repeats`` calls, and what the last one returned."""
    seconds = []
    with _no_garbage_collection():
        for _ in range(repeats):
            output = None  # free the last output before the clock starts, as a caller would
            start = time.perf_counter()
            output = run()
            seconds.append(time.perf_counter() - start)
    return seconds, output


@contextmanager
def _no_garbage_collection() -> Any:
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
