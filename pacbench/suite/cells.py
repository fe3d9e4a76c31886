"""One measured combination, and how filters and exclusions find it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from pydantic import BaseModel, ConfigDict

from pacbench.data.base import Sample
from pacbench.method import Context, DeviceName, TaskName
from pacbench.suite.schema import DataSpec, Limits, TimingSpec
from pacbench.tasks import tasks


class Cell(BaseModel):
    """One measured combination, complete: a worker needs nothing else to run it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: TaskName
    method: str
    label: str
    paper_row: str | None
    params: dict[str, Any]
    protocol: dict[str, Any] = {}
    axes: dict[str, Any]
    backend: str
    device: DeviceName
    threads: int
    data: DataSpec
    repeats: int
    warmup: int
    timing: TimingSpec = TimingSpec()
    seed: int
    limits: Limits
    pictures: int

    @property
    def id(self) -> str:
        """Short hash of everything that can change the result."""
        content = self.model_dump(mode="json", exclude={"label", "paper_row", "limits"})
        if not self.protocol:  # of a task without one, whose ids are older than protocols
            del content["protocol"]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]

    def facts(self) -> dict[str, Any]:
        """What filters, exclusions and progress lines know a cell by."""
        return {
            **self.protocol,
            **self.params,
            **self.axes,
            "method": self.method,
            "label": self.label,
            "backend": self.backend,
            "device": self.device,
            "threads": self.threads,
            "cell": self.id,
        }

    def context(self, example: Sample) -> Context:
        """What its method is built for, given a sample of its data."""
        protocol = tasks[self.task].Protocol(**self.protocol)
        return Context(self.device, self.backend, self.threads, self.seed, example, protocol)

    def __str__(self) -> str:
        swept = " ".join(f"{axis}={value}" for axis, value in self.axes.items())
        return f"{self.label} {swept}".rstrip() + f" [{self.backend}, {self.device}]"


def matches(cell: Cell, wanted: Mapping[str, Any]) -> bool:
    """Whether the cell has every fact in ``wanted``; text values are globs, lists alternatives.

    ``method`` looks at the registered name and at the label.
    """
    facts = cell.facts()
    return all(_fact_matches(key, value, facts) for key, value in wanted.items())


def _fact_matches(key: str, value: Any, facts: Mapping[str, Any]) -> bool:
    names = ("method", "label") if key == "method" else (key,)
    held = [facts[name] for name in names if name in facts]
    return any(h == value or fnmatchcase(str(h), str(value)) for h in held)


def excluded(cell: Cell, exclusions: Iterable[Mapping[str, Any]]) -> bool:
    """Whether all keys of any of the exclusions match the cell."""
    return any(
        all(
            any(matches(cell, {key: option}) for option in _options(value, cell, key))
            for key, value in entry.items()
        )
        for entry in exclusions
    )


def _options(value: Any, cell: Cell, key: str) -> list[Any]:
    """A list in an exclusion means any of its items, unless the fact is itself a list."""
    return (
        value
        if isinstance(value, list) and not isinstance(cell.facts().get(key), list)
        else [value]
    )
