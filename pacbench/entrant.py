"""One cell in a race: what it is asked, what it has spent, and the record that comes of it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from pacbench.process import Process, ProcessFailedError
from pacbench.record import Failure, Outcome, Record, Seconds
from pacbench.suite.cells import Cell
from pacbench.timing import Timing
from pacbench.timing.intervals import relative_half_width
from pacbench.timing.weather import Barometer

MAX_BLOCKS = 200  # of a sample in a process; more would say little and fill the records


class Conditions(Protocol):
    """What the entrants of a race share."""

    id: str
    started: datetime
    clock: float
    barometer: Barometer
    trace: Any


@dataclass
class Entrant:
    """A cell and its present worker; raises ``ProcessFailedError`` where the worker fails."""

    cell: Cell
    samples: int = 0
    start_seconds: float = 0.0
    work_seconds: float = 0.0
    timed_seconds: float = 0.0
    switches: int = 0
    blocks: list[list[float]] = field(default_factory=list)
    numbers: list[list[int]] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    outcome: Outcome | None = None
    process: Process = field(init=False)

    def open(self) -> None:
        """Build the method and open the data."""
        self.samples = self._ask({"open": True})["samples"]

    def begin(self, index: int) -> None:
        """Bring a data sample before the method, score it once, get warm."""
        known = self.calls[index] if index < len(self.calls) else None
        calls = self._ask({"sample": index, "calls": known})["calls"]
        if known is None:
            self.calls.append(calls)
            self.blocks.append([])
            self.numbers.append([])

    def time_block(self, index: int, number: int) -> None:
        """Time one block in the process of that number."""
        answer = self._ask({"block": self.calls[index]})
        self.blocks[index].append(answer["seconds"])
        self.numbers[index].append(number)
        self.timed_seconds += answer["seconds"] * self.calls[index]
        self.switches += answer["switches"]

    def finish(self) -> None:
        """Take what was scored, from the first of the processes."""
        outcome = Outcome.model_validate(self._ask({"finish": True})["outcome"])
        self.outcome = self.outcome or outcome

    def may_go_on(self, index: int, number: int) -> bool:
        """Whether its repeats are not done yet, or its budget allows for more."""
        done, seconds = self._done(index, number)
        budget = self.cell.timing.budget_seconds / self.samples / self.cell.timing.processes
        beyond = seconds * (done + 1 - self._repeats) / max(done, 1)  # with the block to come
        return done < self._repeats or (done < MAX_BLOCKS and beyond <= budget)

    def wants_more(self, index: int, number: int) -> bool:
        """Whether its repeats are not done yet, or the median is not known well enough."""
        done, _ = self._done(index, number)
        if done < self._repeats:
            return True
        precise = relative_half_width(self.blocks[index][-done:]) <= self.cell.timing.precision
        return not precise and self.may_go_on(index, number)

    def record(self, race: Conditions, failure: ProcessFailedError | None = None) -> Record:
        """What came of it: a failure, or scores and timing."""
        common: dict[str, Any] = {
            "id": self.cell.id,
            "cell": self.cell,
            "environment": race.trace.environment,
            "command": race.trace.command(self.cell),
            "started": race.started.isoformat(timespec="seconds"),
            "seconds": Seconds(
                process_start=self.start_seconds,
                work=self.work_seconds,
                total=time.perf_counter() - race.clock,
            ),
        }
        if failure is not None:
            account = Failure(message=failure.message, tail=failure.tail)
            return Record(**common, status=failure.status, failure=account)
        assert self.outcome is not None  # noqa: S101, it finished
        weather = race.barometer.weather(self.switches, self.timed_seconds, self.cell.device)
        return Record(
            **common,
            status="ok",
            **dict(self.outcome),
            timing=Timing.of(self.blocks, self.numbers, self.calls, race.id, weather),
        )

    @property
    def _repeats(self) -> int:
        """Blocks of a sample in each process."""
        return math.ceil(self.cell.repeats / self.cell.timing.processes)

    def _done(self, index: int, number: int) -> tuple[int, float]:
        """Blocks and seconds so far of a sample in the process of that number."""
        done = self.numbers[index].count(number)
        seconds = sum(self.blocks[index][-done:]) if done else 0.0
        return done, seconds * self.calls[index]

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        begin, limit = time.perf_counter(), self.cell.limits.seconds
        message = f"stopped after its limit of {limit:g} s"
        try:
            return self.process.ask(request, limit - self.work_seconds, message)
        finally:
            self.work_seconds += time.perf_counter() - begin
