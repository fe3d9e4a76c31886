"""A timing says what it is made of, and when and why not to trust it."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest

from pacbench.timing import Timing, Weather
from pacbench.timing.weather import Barometer, gpu_state


def test_summary() -> None:
    timing = Timing.of([[1.0, 1.1, 0.9], [3.0, 3.1, 2.9]], [[0, 0, 1], [0, 1, 1]])
    assert timing.median == pytest.approx(2.0)
    assert timing.throughput == pytest.approx(0.5)
    assert timing.mad == pytest.approx(0.1)
    assert timing.minimum == 0.9
    assert timing.interval is not None
    assert timing.interval[0] <= timing.median <= timing.interval[1]
    assert timing.by_process() == [[[1.0, 1.1], [0.9]], [[3.0], [3.1, 2.9]]]
    assert Timing.model_validate_json(timing.model_dump_json()) == timing
    assert json.loads(timing.model_dump_json())["throughput"] == pytest.approx(0.5)


def test_samples_tell_the_interval_whatever_a_record_says() -> None:
    timing = Timing.of([[1.0, 1.1, 0.9] * 4])
    content = json.loads(timing.model_dump_json())
    assert tuple(content["interval"]) == timing.interval
    for said in ([1.0, 1.0], None):  # as earlier versions did
        assert Timing.model_validate({**content, "interval": said}).interval == timing.interval
    few = Timing.of([[1.0, 1.1, 0.9]])
    assert few.interval is None
    assert json.loads(few.model_dump_json())["interval"] is None


def test_steady_timings_are_trusted() -> None:
    assert Timing.of([[1.0, 1.01, 0.99] * 5]).unstable == ""


@pytest.mark.parametrize(
    ("samples", "processes", "said"),
    [
        ([1.0], [0], "1 timed block: the spread is not known"),
        ([1.0, 2.0, 3.0], [0, 0, 0], "MAD is 50% of the median"),
        ([1.0, 1.001] * 5 + [1.2, 1.201] * 5, [0] * 20, "drifted by +20% within a process"),
        ([1.0] * 8 + [1.1] * 4, [0] * 8 + [1] * 4, "processes differ by 10%"),
    ],
)
def test_what_varied_is_said(samples: list[float], processes: list[int], said: str) -> None:
    assert said in Timing.of([samples], [processes]).unstable


def test_causes_are_said_with_what_varied() -> None:
    sky = Weather(
        involuntary_switches=500,
        timed_seconds=2.0,
        steal=0.08,
        other_load=1.4,
        frequency_change=0.2,
        gpu_clock=900.0,
        throttling="hw_slowdown",
    )
    unstable = Timing.of([[1.0, 2.0, 3.0]], weather=sky).unstable
    for cause in (
        "other processes kept 1.4 cores busy",
        "the hypervisor took 8% of the time",
        "the frequency changed by 20%",
        "250 involuntary context switches a second",
        "the GPU was throttled: hw_slowdown at 900 MHz",
    ):
        assert cause in unstable
    assert Timing.of([[1.0] * 5], weather=sky).unstable == ""  # it did no harm


def test_the_barometer_reads_this_machine() -> None:
    barometer = Barometer()
    barometer.start([])
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass
    barometer.stop()
    assert barometer.wall >= 0.2
    assert barometer.ours == pytest.approx(0.2, abs=0.1)
    weather = barometer.weather(switches=3, timed_seconds=1.0, device="cpu")
    assert weather.involuntary_switches == 3
    assert weather.other_load is None or weather.other_load >= 0


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("1410, Not Active, Active, Active", (1410.0, "hw_slowdown, sw_power_cap")),
        ("1980, Not Active, Not Active, Not Active", (1980.0, "")),
        ("[N/A], Active, [N/A], [N/A]", (None, "sw_thermal_slowdown")),
        ("NVIDIA-SMI has failed", (None, "")),
    ],
)
def test_the_gpus_driver_is_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, state: tuple[float | None, str]
) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\necho '{said}'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert gpu_state() == state


def test_a_driver_that_hangs_is_no_weather(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(command: list[str], **_: object) -> None:
        raise subprocess.TimeoutExpired(command, 20)

    monkeypatch.setattr("shutil.which", lambda _: "nvidia-smi")
    monkeypatch.setattr("subprocess.run", hang)
    assert gpu_state() == (None, "")


def test_no_gpu_is_no_weather(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert gpu_state() == (None, "")
