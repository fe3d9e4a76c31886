"""What a cell produced: the one thing that tables, figures and reports are made of."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, field_validator

from pacbench.method import Architecture
from pacbench.process import Status
from pacbench.suite.cells import Cell
from pacbench.timing import Timing
from pacbench.timing.cost import Cost

SCHEMA_VERSION = 1


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Failure(Strict):
    """Why a cell gave no result: one line, and the end of what the worker printed."""

    message: str
    tail: str = ""


class ImageScore(Strict):
    """Metrics of one sample.

    Attributes:
        counts: per class, pixels in the intersection and in the union of output and truth: what
            the split's mIoU sums, so that its interval over samples can be told. Empty for tasks
            whose metrics are means over samples.
    """

    name: str
    metrics: dict[str, float]
    counts: list[tuple[int, int]] = []


class Seconds(Strict):
    """Where the time of a cell went.

    Attributes:
        process_start: its share of starting the processes of its group.
        work: its own, while the others of its group waited.
        total: from the start of its group to its record.
    """

    process_start: float
    work: float
    total: float


class Outcome(Strict):
    """What the worker sends back from a cell that ran to its end, besides the timed blocks."""

    protocol: str
    metrics: dict[str, float]
    images: list[ImageScore]
    memory: int | None = None
    cost: Cost | None = None
    architecture: Architecture | None = None
    weights_sha256: str | None = None
    stages: dict[str, float] = {}


class Record(Strict):
    """A cell, how it went, and everything needed to trace or repeat it.

    Attributes:
        schema_version: what these fields mean; a record of another version is refused.
        memory: bytes that a call on the first sample needed beyond the inputs.
        cost: FLOPs and bytes of a call on the first sample, by the method's formula.
        architecture: parameters and layers, where the method is a network.
        weights_sha256: of the file of trained weights that the method used.
        stages: seconds of each stage that the method offers to be timed apart.
    """

    schema_version: int = SCHEMA_VERSION
    id: str
    status: Status
    cell: Cell
    protocol: str | None = None
    metrics: dict[str, float] = {}
    images: list[ImageScore] = []
    timing: Timing | None = None
    memory: int | None = None
    cost: Cost | None = None
    architecture: Architecture | None = None
    weights_sha256: str | None = None
    stages: dict[str, float] = {}
    failure: Failure | None = None
    environment: str
    command: str
    started: str
    seconds: Seconds

    @field_validator("schema_version")
    @classmethod
    def _is_known(cls, version: int) -> int:
        if version > SCHEMA_VERSION:
            raise ValueError(
                f"{version} is newer than {SCHEMA_VERSION}, which this pacbench reads; update it"
            )
        if version < SCHEMA_VERSION:
            raise ValueError(f"{version} is not known; this pacbench reads {SCHEMA_VERSION}")
        return version

    @property
    def ok(self) -> bool:
        return self.status == "ok"
