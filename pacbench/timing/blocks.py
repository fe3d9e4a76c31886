"""Timing a call in blocks: warm-up, how many calls make a block, the seconds of one call.

Only the standard library is imported here: the gate runs this very file in processes that hold
another version of the package, so that both sides are measured by the same code.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

Run = Callable[[], object]

MIN_BLOCK_SECONDS = 1e-3  # asking another process for a block costs a tenth of that
TICKS = 1000  # of the clock that a block must last at least
SPINNING = 0.008  # seconds for which idle OpenMP threads keep their cores from another process
WARM_UP_SECONDS = 1.0
STEADY_RUNS = 3
STEADY_GAIN = 0.01


class Clock(Protocol):
    """Times work on one device.

    Attributes:
        resolution: seconds below which the clock tells nothing apart.
    """

    resolution: float

    def seconds(self, run: Run, calls: int) -> float:
        """Seconds that ``calls`` calls in a row take until their work is done."""


class HostClock:
    """For work that is done when the call returns."""

    resolution = 1e-7

    def seconds(self, run: Run, calls: int) -> float:
        start = time.perf_counter()
        for _ in range(calls):
            run()
        return time.perf_counter() - start


def warm_up(clock: Clock, run: Run, at_least: int) -> float:
    """Run until the times no longer fall; seconds of the fastest run.

    Stops when three runs in a row have not beaten the fastest by 1 %, or after a second; never
    before ``at_least`` runs.
    """
    best, spent, steady, done = math.inf, 0.0, 0, 0
    while done < max(at_least, 1) or (steady < STEADY_RUNS and spent < WARM_UP_SECONDS):
        seconds = clock.seconds(run, 1)
        steady = 0 if seconds < (1 - STEADY_GAIN) * best else steady + 1
        best, spent, done = min(best, seconds), spent + seconds, done + 1
    return best


def calls_per_block(clock: Clock, run: Run, estimate: float) -> int:
    """How many calls make a block that the clock resolves, given the seconds of one call."""
    target = max(MIN_BLOCK_SECONDS, TICKS * clock.resolution)
    calls = max(1, math.ceil(target / max(estimate, clock.resolution)))
    while (seconds := clock.seconds(run, calls)) < 0.8 * target:
        calls = math.ceil(calls * min(10.0, target / max(seconds, clock.resolution)))
    return calls


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Collect now, and not again until the end of the block."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
