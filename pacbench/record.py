"""What a cell produced: the one thing that tables, figures and reports are made of."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from pacbench.suite.cells import Cell
from pacbench.timing import Timing

SCHEMA_VERSION = 1

Status = Literal["ok", "error", "exited", "crashed", "timeout", "out_of_memory", "not_finite"]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Failure(Strict):
    """Why a cell gave no result: one line, and the end of what the worker printed."""

    message: str
    tail: str = ""


class ImageScore(Strict):
    """Metrics of one sample."""

    name: str
    metrics: dict[str, float]


class Seconds(Strict):
    """Where the wall time of a cell went: starting its process, the work itself, all of it."""

    process_start: float
    work: float
    total: float


class Outcome(Strict):
    """What the worker sends back from a cell that ran to its end."""

    protocol: str
    metrics: dict[str, float]
    images: list[ImageScore]
    timing: Timing
    work_seconds: float


class Record(Strict):
    """A cell, how it went, and everything needed to trace or repeat it."""

    schema_version: int = SCHEMA_VERSION
    id: str
    status: Status
    cell: Cell
    protocol: str | None = None
    metrics: dict[str, float] = {}
    images: list[ImageScore] = []
    timing: Timing | None = None
    failure: Failure | None = None
    environment: str
    command: str
    started: str
    seconds: Seconds

    @property
    def ok(self) -> bool:
        return self.status == "ok"
