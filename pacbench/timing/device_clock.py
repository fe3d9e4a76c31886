"""The clock of a device that works on its own while the host goes on: events on its stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import torch

from pacbench.timing.blocks import Clock, HostClock, Run


class Event(Protocol):
    """A mark in a stream of work."""

    def record(self) -> None: ...

    def elapsed_time(self, end: Any, /) -> float:
        """Milliseconds from this mark to ``end``."""


class EventDevice(Protocol):
    """What an event clock needs of a device."""

    def event(self) -> Event: ...

    def synchronize(self) -> None:
        """Wait until all work given to the device is done."""

    def flush_cache(self) -> None:
        """Evict what earlier work left in the cache."""

    def capture(self, run: Run) -> Run:
        """The work of ``run`` as a graph; calling it replays the work without the host's part."""


class EventClock:
    """Times what the device does between two events, from a cold cache."""

    resolution = 5e-7  # as CUDA documents its events

    def __init__(self, device: EventDevice) -> None:
        self.device = device

    def seconds(self, run: Run, calls: int) -> float:
        start, end = self.device.event(), self.device.event()
        self.device.flush_cache()
        self.device.synchronize()
        start.record()
        for _ in range(calls):
            run()
        end.record()
        self.device.synchronize()
        return start.elapsed_time(end) / 1e3


class CudaDevice:
    """The current CUDA device and its current stream."""

    def __init__(self) -> None:
        cache = torch.cuda.get_device_properties(torch.cuda.current_device()).L2_cache_size
        self._evictor = torch.empty(max(2 * cache, 1 << 25), dtype=torch.uint8, device="cuda")

    def event(self) -> Event:
        event: Event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        return event

    def synchronize(self) -> None:
        torch.cuda.synchronize()

    def flush_cache(self) -> None:
        self._evictor.zero_()

    def capture(self, run: Run) -> Run:
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):  # what a first call allocates must be there before capture
            run()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            run()
        replay: Callable[[], object] = graph.replay
        return replay


def clock_for(device: str) -> Clock:
    """The clock that fits where a cell runs."""
    return EventClock(CudaDevice()) if device == "cuda" else HostClock()


def as_timed(run: Run, clock: Clock, graphs: bool) -> Run:
    """What is put before the clock: ``run``, or its graph on a device that has them."""
    return clock.device.capture(run) if graphs and isinstance(clock, EventClock) else run
