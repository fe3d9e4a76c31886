"""What else went on while a cell was timed: the reasons of an unsteady clock."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import psutil
from pydantic import BaseModel, ConfigDict

TICK = os.sysconf("SC_CLK_TCK")


class Weather(BaseModel):
    """Disturbances over the time of a measurement; None where the machine does not tell.

    Attributes:
        involuntary_switches: times that the kernel took a core away within timed blocks.
        timed_seconds: that those were counted over.
        steal: share of the cores' time that the hypervisor gave to others.
        other_load: cores kept busy by processes that are not part of the measurement.
        frequency_change: largest change of a core's frequency, as a share.
        gpu_clock: MHz of the GPU's cores after the last block.
        throttling: what a GPU says slowed it down; empty for nothing.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    involuntary_switches: int = 0
    timed_seconds: float = 0.0
    steal: float | None = None
    other_load: float | None = None
    frequency_change: float | None = None
    gpu_clock: float | None = None
    throttling: str = ""

    def reasons(self) -> list[str]:
        """In words, those that are large enough to disturb."""
        reasons = []
        if self.other_load is not None and self.other_load > 0.2:
            reasons.append(f"other processes kept {self.other_load:.1f} cores busy")
        if self.steal is not None and self.steal > 0.01:
            reasons.append(f"the hypervisor took {self.steal:.0%} of the time")
        if self.frequency_change is not None and self.frequency_change > 0.03:
            reasons.append(f"the frequency changed by {self.frequency_change:.0%}")
        if self.timed_seconds and self.involuntary_switches / self.timed_seconds > 20:
            per_second = self.involuntary_switches / self.timed_seconds
            reasons.append(f"{per_second:.0f} involuntary context switches a second")
        if self.throttling:
            clock = f" at {self.gpu_clock:.0f} MHz" if self.gpu_clock else ""
            reasons.append(f"the GPU was throttled: {self.throttling}{clock}")
        return reasons


@dataclass
class Barometer:
    """Reads the counters at both ends of every stretch of measuring, and adds the stretches up."""

    wall: float = 0.0
    busy: float = 0.0
    stolen: float = 0.0
    ours: float = 0.0
    frequency_change: float | None = None

    def start(self, processes: Iterable[int]) -> None:
        self._processes = [os.getpid(), *processes]
        self._begin = _Counters.read(self._processes)

    def stop(self) -> None:
        begin, end = self._begin, _Counters.read(self._processes)
        self.wall += end.wall - begin.wall
        self.busy += end.busy - begin.busy
        self.stolen += end.stolen - begin.stolen
        self.ours += end.ours - begin.ours
        changes = [
            abs(after - before) / before
            for before, after in zip(begin.frequencies, end.frequencies, strict=False)
            if before
        ]
        if changes:
            self.frequency_change = max(self.frequency_change or 0.0, *changes)

    def weather(self, switches: int, timed_seconds: float, device: str) -> Weather:
        """For one cell, whose own blocks saw ``switches`` in ``timed_seconds``."""
        known = self.wall > 10 / TICK  # the kernel counts in ticks
        cores = os.cpu_count() or 1
        gpu_clock, throttling = gpu_state() if device == "cuda" else (None, "")
        return Weather(
            involuntary_switches=switches,
            timed_seconds=timed_seconds,
            steal=max(0.0, self.stolen / self.wall / cores) if known else None,
            other_load=max(0.0, (self.busy - self.ours) / self.wall) if known else None,
            frequency_change=self.frequency_change,
            gpu_clock=gpu_clock,
            throttling=throttling,
        )


@dataclass(frozen=True)
class _Counters:
    wall: float
    busy: float
    stolen: float
    ours: float
    frequencies: list[float]

    @classmethod
    def read(cls, processes: Iterable[int]) -> _Counters:
        user, nice, system, _, _, interrupt, soft, steal = _cpu_seconds()
        return cls(
            wall=perf_counter(),
            busy=user + nice + system + interrupt + soft,
            stolen=steal,
            ours=sum(_process_seconds(process) for process in processes),
            frequencies=[core.current for core in psutil.cpu_freq(percpu=True) or []],
        )


def gpu_state() -> tuple[float | None, str]:
    """MHz of the first NVIDIA GPU's cores, and what its driver says holds them down.

    None and nothing where there is no such GPU or the driver does not tell.
    """
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None, ""
    reasons = ("sw_thermal_slowdown", "hw_slowdown", "sw_power_cap")
    query = ",".join(["clocks.sm", *(f"clocks_event_reasons.{reason}" for reason in reasons)])
    command = [tool, f"--query-gpu={query}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None, ""
    clock, *states = (value.strip() for value in done.stdout.split("\n")[0].split(","))
    active = [reason for reason, state in zip(reasons, states, strict=False) if state == "Active"]
    try:
        return float(clock), ", ".join(active)
    except ValueError:
        return None, ", ".join(active)


def _cpu_seconds() -> list[float]:
    try:
        first = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0]
    except OSError:
        return [0.0] * 8
    return [int(ticks) / TICK for ticks in first.split()[1:9]]


def _process_seconds(process: int) -> float:
    try:
        times = psutil.Process(process).cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system + times.children_user + times.children_system)
