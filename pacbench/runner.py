"""Runs the cells of a group, each in processes of its own, and turns what happens into records.

The workers of a group are alive together and asked for timed blocks in turn, one at a time and in
random order, so that every method sees the same weather. When all of a group's cells have been
timed in one set of processes, fresh ones follow, as many as the suite asks for.
"""

from __future__ import annotations

import random
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from pacbench.entrant import Entrant
from pacbench.process import Process, ProcessFailedError
from pacbench.record import Record
from pacbench.suite.cells import Cell
from pacbench.timing.weather import Barometer

START_LIMIT = 300.0  # seconds for a worker to import everything, on a slow disk
TOGETHER = 8  # workers alive at once: each holds torch, its data and its method in memory


@dataclass(frozen=True)
class Trace:
    """What every record of a run says about where it came from."""

    pictures: Path
    environment: str
    command: Callable[[Cell], str]
    reached: Callable[[float, str], None] = lambda *_: None


def groups(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Cells that share inputs and are timed against each other, in the order of the suite."""
    alike: dict[str, list[Cell]] = {}
    for cell in cells:
        alike.setdefault(cell.model_dump_json(include={"data", "protocol"}), []).append(cell)
    return [
        group[start : start + TOGETHER]
        for group in alike.values()
        for start in range(0, len(group), TOGETHER)
    ]


def run_group(cells: Sequence[Cell], trace: Trace) -> Iterator[Record]:
    """Run cells that share data; a record per cell, as soon as it has failed or all are done.

    Never raises for anything that a cell does.
    """
    race = _Race([Entrant(cell) for cell in cells], trace)
    processes = max(cell.timing.processes for cell in cells)
    for number in range(processes):
        yield from race.run(number, processes)
    yield from race.finished()


@dataclass
class _Race:
    """The entrants of a group, those still in it, and the conditions that all of them saw."""

    entrants: list[Entrant]
    trace: Trace
    id: str = field(default_factory=lambda: secrets.token_hex(4))
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    clock: float = field(default_factory=time.perf_counter)
    barometer: Barometer = field(default_factory=Barometer)

    def __post_init__(self) -> None:
        self.random = random.Random(self.id)  # noqa: S311, only the order of the blocks

    def run(self, number: int, processes: int) -> Iterator[Record]:
        """Everything that is done in one set of processes; the records of those who fail."""
        with ExitStack() as closing:
            yield from self._start(number, closing)
            yield from self._each(Entrant.open)
            samples = max((e.samples for e in self.entrants), default=0)
            for index in range(samples):
                place = f"sample {index + 1}/{samples} of process {number + 1}/{processes}"
                self.trace.reached((number + index / samples) / processes, place)
                yield from self._each(partial(Entrant.begin, index=index))
                yield from self._rounds(index, number)
            yield from self._each(Entrant.finish)

    def finished(self) -> Iterator[Record]:
        """The records of those who are still in the race."""
        for entrant in self.entrants:
            yield entrant.record(self)

    def _start(self, number: int, closing: ExitStack) -> Iterator[Record]:
        begin = time.perf_counter()
        for entrant in self.entrants:
            entrant.process = _worker(entrant.cell)
            closing.callback(entrant.process.close)
            entrant.process.send(
                {
                    "cell": entrant.cell.model_dump(mode="json"),
                    "pictures": str(self.trace.pictures),
                    "score": number == 0,
                }
            )
        share = 1 / max(len(self.entrants), 1)
        for entrant in list(self.entrants):
            limit = f"the worker did not start within {START_LIMIT:g} s"
            try:
                entrant.process.answer(START_LIMIT, limit)
            except ProcessFailedError as failure:
                yield self._fail(entrant, failure)
        for entrant in self.entrants:
            entrant.start_seconds += share * (time.perf_counter() - begin)

    def _each(self, do: Callable[[Entrant], None]) -> Iterator[Record]:
        """Let every entrant do something, one after the other."""
        for entrant in list(self.entrants):
            try:
                do(entrant)
            except ProcessFailedError as failure:
                yield self._fail(entrant, failure)

    def _rounds(self, index: int, number: int) -> Iterator[Record]:
        """Rounds of blocks until every entrant is precise enough or has spent its budget."""
        self.barometer.start(entrant.process.pid for entrant in self.entrants)
        while any(entrant.wants_more(index, number) for entrant in self.entrants):
            able = [entrant for entrant in self.entrants if entrant.may_go_on(index, number)]
            for entrant in self.random.sample(able, len(able)):
                try:
                    entrant.time_block(index, number)
                except ProcessFailedError as failure:
                    yield self._fail(entrant, failure)
        self.barometer.stop()

    def _fail(self, entrant: Entrant, failure: ProcessFailedError) -> Record:
        self.entrants.remove(entrant)
        entrant.process.kill()
        return entrant.record(self, failure)


def _worker(cell: Cell) -> Process:
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    command = [sys.executable, "-m", "pacbench.worker"]
    return Process(command, {name: str(cell.threads) for name in names})
