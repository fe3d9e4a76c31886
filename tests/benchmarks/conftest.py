"""How the benchmarks compare: side by side in one run, as ratios, against a bar.

A machine that other work shares is slow now and then, never fast: so each contender runs in turn,
again and again, and is judged by a low quantile of its times.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
import torch
from pytest_benchmark.fixture import BenchmarkFixture

Contenders = dict[str, Callable[[], object]]


def low_quantiles(contenders: Contenders, seconds: float, least_rounds: int) -> dict[str, float]:
    """Seconds that each contender needs, measured in turn for about ``seconds`` in all."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for run in contenders.values():
        run()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or min(map(len, times.values())) < least_rounds:
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    return {name: sorted(taken)[len(taken) // 10] for name, taken in times.items()}


class Bars:
    """Prints each figure with its bar as it is measured."""

    def __init__(self, benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
        self._benchmark = benchmark
        self._capsys = capsys

    def race(
        self, contenders: Contenders, seconds: float = 6.0, least_rounds: int = 3
    ) -> dict[str, float]:
        """Times of all contenders in seconds; the first one's go to pytest-benchmark's table."""
        times = low_quantiles(contenders, seconds, least_rounds)
        self._benchmark.pedantic(next(iter(contenders.values())), rounds=2)
        return times

    def once(self, measure: Callable[[], float]) -> float:
        """The figure that a single call of ``measure`` finds."""
        return float(self._benchmark.pedantic(measure, rounds=1))

    def say(self, text: str) -> None:
        with self._capsys.disabled():
            print(text)

    def judge(self, what: str, figure: float, bar: float) -> bool:
        """Shows ``figure`` beside the most it may be; whether it holds."""
        good = figure <= bar
        self._benchmark.extra_info[what] = {"figure": figure, "at most": bar}
        self.say(f"{what:<78} {figure:7.3f}   at most {bar:<5} {'pass' if good else 'FAIL'}")
        return good


@pytest.fixture
def bars(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> Bars:
    return Bars(benchmark, capsys)


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)
