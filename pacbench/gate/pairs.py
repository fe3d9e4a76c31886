"""Process pairs: one fresh process of each side, timed against each other in short blocks."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pacbench.errors import UserError
from pacbench.gate.load import busy
from pacbench.process import Process
from pacbench.suite.cells import Cell

ROUNDS = 100
START_LIMIT = 300.0
ANSWER_LIMIT = 120.0
AGENT = Path(__file__).with_name("agent.py")


@dataclass(frozen=True)
class Side:
    """What is timed: a name for people, and the Python whose ``pacbench`` it is."""

    name: str
    python: str


Times = list[list[float]]
"""Seconds of one call, of each side and round."""


@dataclass
class Pairing:
    """Everything that all pairs of a comparison share.

    Attributes:
        load: keep the cores busy that are not timed on.
        calls: that make a block of each benchmark, from the first pair on.
        prices: by what share a unit of extra work slows a block down, for the self-test.
        missing: why a benchmark cannot be compared.
        extra_seconds: of the last pair, spent on slowdowns.
    """

    sides: tuple[Side, Side]
    cells: Sequence[Cell]
    rounds: int = ROUNDS
    seed: int = 0
    load: bool = False
    calls: dict[int, int] = field(default_factory=dict)
    prices: dict[int, float] = field(default_factory=dict)
    missing: dict[int, str] = field(default_factory=dict)
    extra_seconds: float = 0.0

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311, only orders

    def run(self, wanted: Iterable[int], slowdowns: Sequence[float] = ()) -> dict[int, list[Times]]:
        """Start a fresh pair and time the benchmarks ``wanted``, in random order.

        Args:
            wanted: positions in ``cells``.
            slowdowns: extra work of the second side, as shares of a call; rounds for each of them
                follow those without.

        Returns:
            Per benchmark, the times as they are and for each of the slowdowns; without benchmarks
            that are missing.
        """
        order = [index for index in wanted if index not in self.missing]
        self._random.shuffle(order)
        self.extra_seconds = 0.0
        with ExitStack() as closing:
            pair = self._start(closing)
            timed = {index: self._time(index, pair, slowdowns) for index in order}
        return {index: times for index, times in timed.items() if times}

    def _start(self, closing: ExitStack) -> list[Process]:
        cores, others = self._cores()
        if self.load and not others:
            raise UserError("--load: all cores are timed on, none is left to keep busy")
        if self.load:
            closing.enter_context(busy(others))
        pair: dict[int, Process] = {}
        for number in self._either_order():  # who comes first may get the better memory
            process = Process([self.sides[number].python, "-P", str(AGENT)], {})
            closing.callback(process.close)
            process.send({"benchmarks": specs(self.cells), "cores": cores})
            pair[number] = process
        for process in pair.values():
            process.answer(START_LIMIT, f"did not start within {START_LIMIT:g} s")
        return [pair[0], pair[1]]

    def _cores(self) -> tuple[list[int], list[int]]:
        """For both sides the same, so that they share a core's luck and caches; and the others."""
        usable = sorted(os.sched_getaffinity(0))
        threads = max(cell.threads for cell in self.cells)
        timed = sorted(self._random.sample(usable, min(threads, len(usable))))
        return timed, sorted(set(usable) - set(timed))

    def _time(self, index: int, pair: Sequence[Process], slowdowns: Sequence[float]) -> list[Times]:
        for number in self._either_order():
            answer = _ask(pair[number], {"begin": index, "calls": self.calls.get(index)})
            if "missing" in answer:
                self.missing[index] = f"{self.sides[number].name}: {answer['missing']}"
                return []
            self.calls.setdefault(index, answer["calls"])
        timed = [self._rounds(index, pair, 0)]
        begin = time.monotonic()
        if slowdowns and index not in self.prices:
            self.prices[index] = _ask(pair[0], {"price": self.calls[index]})["price"]
        timed += [self._rounds(index, pair, round(s / self.prices[index])) for s in slowdowns]
        self.extra_seconds += time.monotonic() - begin
        return timed

    def _rounds(self, index: int, pair: Sequence[Process], extra_units: int) -> Times:
        """Rounds of a block of each side, in random order."""
        units = (0, extra_units)
        times: Times = [[], []]
        for _ in range(self.rounds):
            for number in self._either_order():
                request = {"block": self.calls[index], "units": units[number]}
                times[number].append(_ask(pair[number], request)["seconds"])
        return times

    def _either_order(self) -> list[int]:
        """The sides in random order."""
        return self._random.sample((0, 1), 2)


def specs(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """What the agent needs to know of the benchmarks."""
    fields = {"method", "params", "backend", "device", "threads", "seed", "data"}
    return [cell.model_dump(mode="json", include=fields) for cell in cells]


def _ask(process: Process, request: dict[str, Any]) -> dict[str, Any]:
    return process.ask(request, ANSWER_LIMIT, f"gave no answer within {ANSWER_LIMIT:g} s")
