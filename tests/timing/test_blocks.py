"""Warm-up, the size of a block, and the clocks of devices."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
import torch

from pacbench.timing.blocks import (
    HostClock,
    Run,
    calls_per_block,
    no_garbage_collection,
    warm_up,
)
from pacbench.timing.device_clock import EventClock, as_timed, clock_for
from pacbench.timing.memory import peak_beyond_inputs


class ScriptedClock:
    """Says what it was told to, and counts the calls."""

    resolution = 1e-7

    def __init__(self, seconds: Iterator[float]) -> None:
        self.script = seconds
        self.calls = 0

    def seconds(self, run: Run, calls: int) -> float:
        self.calls += calls
        return sum(next(self.script) for _ in range(calls))


def nothing() -> None:
    pass


def test_warm_up_ends_when_times_no_longer_fall() -> None:
    clock = ScriptedClock(iter([5.0e-2, 3.0e-2, 2.0e-2, 2.1e-2, 1.99e-2, 2.0e-2, 1.0]))
    assert warm_up(clock, nothing, at_least=1) == 1.99e-2
    assert clock.calls == 6


def test_warm_up_of_something_slow_is_short() -> None:
    clock = ScriptedClock(iter([2.0] * 9))
    assert warm_up(clock, nothing, at_least=1) == 2.0
    assert clock.calls == 1
    assert warm_up(clock, nothing, at_least=3) == 2.0
    assert clock.calls == 4


@pytest.mark.parametrize(("seconds", "calls"), [(1.0, 1), (1e-3, 1), (4e-4, 3), (1e-5, 100)])
def test_a_block_lasts_a_millisecond(seconds: float, calls: int) -> None:
    clock = ScriptedClock(iter([seconds] * 10_000))
    assert calls_per_block(clock, nothing, seconds) == calls


def test_a_bad_estimate_is_corrected() -> None:
    clock = ScriptedClock(iter([1e-5] * 10_000))
    assert calls_per_block(clock, nothing, estimate=1.0) == 100


def test_the_host_clock_counts_all_calls() -> None:
    done = []
    assert HostClock().seconds(lambda: done.append(1), 7) > 0
    assert len(done) == 7


def test_garbage_is_not_collected_meanwhile() -> None:
    with no_garbage_collection():
        assert not gc.isenabled()
    assert gc.isenabled()


class FakeEvent:
    def __init__(self, device: FakeDevice) -> None:
        self.device = device
        self.at = 0.0

    def record(self) -> None:
        self.at = self.device.queued
        self.device.log.append("record")

    def elapsed_time(self, end: FakeEvent) -> float:
        assert self.device.done >= end.at, "read before the work was done"
        return 1e3 * (end.at - self.at)


class FakeDevice:
    """A device with a stream: work is queued at once and done when it is waited for."""

    def __init__(self) -> None:
        self.queued = self.done = 0.0
        self.log: list[str] = []

    def work(self) -> None:
        self.queued += 0.25
        self.log.append("work")

    def event(self) -> FakeEvent:
        return FakeEvent(self)

    def synchronize(self) -> None:
        self.done = self.queued
        self.log.append("wait")

    def flush_cache(self) -> None:
        self.queued += 7.0
        self.log.append("flush")

    def capture(self, run: Run) -> Run:
        run()
        return lambda: self.log.append("replay")


def test_an_event_clock_times_the_device_from_a_cold_cache() -> None:
    device = FakeDevice()
    assert EventClock(device).seconds(device.work, 3) == pytest.approx(0.75)
    assert device.log == ["flush", "wait", "record", "work", "work", "work", "record", "wait"]


def test_graphs_are_captured_once_where_there_are_some() -> None:
    device = FakeDevice()
    timed = as_timed(device.work, EventClock(device), graphs=True)
    timed()
    assert device.log == ["work", "replay"]
    assert as_timed(nothing, EventClock(device), graphs=False) is nothing
    assert as_timed(nothing, HostClock(), graphs=True) is nothing


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_a_real_device_is_timed_and_its_memory_seen() -> None:
    left = torch.ones(1024, 1024, device="cuda")
    clock = clock_for("cuda")
    once = clock.seconds(lambda: left @ left, 20)
    assert 0 < once < 10
    assert clock.seconds(as_timed(lambda: left @ left, clock, graphs=True), 20) > 0
    _, peak = peak_beyond_inputs(lambda: left @ left, "cuda")
    assert peak is not None
    assert peak >= left.nbytes
