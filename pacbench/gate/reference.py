"""Comparing with figures of the past: ratios to yardsticks, never seconds.

Every benchmark is timed in the same rounds as a convolution, a matrix product and a copy. How many
times as long it takes as each of them is what is kept and compared; a benchmark counts as slower
only if it is so by every yardstick.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, PositiveInt, ValidationError
from scipy import stats

from pacbench.environment import Environment
from pacbench.errors import UserError
from pacbench.gate.decide import Rule
from pacbench.gate.session import Finding, Report, name_of
from pacbench.record import Record
from pacbench.runner import Trace, run_group
from pacbench.suite.cells import Cell
from pacbench.timing.intervals import Estimate

Yardstick = Literal["conv2d", "gemm", "memory_copy"]
YARDSTICKS: tuple[Yardstick, ...] = get_args(Yardstick)
FEWEST_PROCESSES = 3

Processes = Annotated[list[FiniteFloat], Field(min_length=FEWEST_PROCESSES)]
LogRatios = Mapping[str, Mapping[Yardstick, list[float]]]
"""By benchmark and yardstick, one of each process."""


class Reference(BaseModel):
    """What is kept: the ratios of one machine, and the machine.

    Attributes:
        instructions: of the native kernels in one call, by benchmark, where they were counted.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    environment: Environment
    log_ratios: dict[str, Annotated[dict[Yardstick, Processes], Field(min_length=1)]]
    instructions: dict[str, PositiveInt] = {}

    @classmethod
    def read(cls, path: Path) -> Reference:
        try:
            return cls.model_validate_json(path.read_bytes())
        except OSError as error:
            raise UserError(f"{path}: cannot be read: {error.strerror}") from None
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            reason = f"{where}: {first['msg']}"
            raise UserError(f"{path}: is no reference of the gate: {reason}") from None

    def require_cpu(self, cpu: str, name: str) -> None:
        """Refuse, as ``UserError``, to be compared with what another CPU does."""
        if cpu != self.environment.cpu:
            raise UserError(
                f"{name}: was measured on {self.environment.cpu}, this is {cpu}: ratios to "
                "yardsticks differ between CPUs; --other-cpu compares them all the same"
            )


def measure(cells: Sequence[Cell], processes: int, scratch: Path) -> LogRatios:
    """Time the benchmarks in the same rounds as the yardsticks, in so many fresh processes."""
    timing = cells[0].timing.model_copy(update={"processes": processes, "budget_seconds": 0.0})
    repeats = cells[0].repeats * processes
    entrants = [
        cell.model_copy(update={"timing": timing, "repeats": repeats})
        for cell in [*cells, *_yardsticks(cells[0])]
    ]
    records = list(run_group(entrants, Trace(scratch, "", lambda _: "")))
    for record in records:
        if record.failure:
            raise UserError(f"{record.cell}: {record.status}: {record.failure.message}")
    by_id = {record.id: record for record in records}
    timed = [by_id[cell.id] for cell in entrants]
    return {
        name_of(cell): {
            yardstick: _log_ratios(record, other)
            for yardstick, other in zip(YARDSTICKS, timed[len(cells) :], strict=True)
        }
        for cell, record in zip(cells, timed, strict=False)
    }


def compare(
    reference: Reference, measured: LogRatios, rule: Rule, name: str, seconds: float
) -> Report:
    """What has changed since, by figures that took so many seconds to measure."""
    return Report(
        baseline=name,
        candidate="this version",
        max_slowdown=rule.max_slowdown,
        confidence=rule.confidence,
        how="both as multiples of yardsticks timed in the same rounds",
        seconds=seconds,
        findings=[
            _finding(benchmark, reference.log_ratios.get(benchmark), now, rule)
            for benchmark, now in measured.items()
        ],
    )


def _finding(
    benchmark: str,
    then: Mapping[Yardstick, list[float]] | None,
    now: Mapping[Yardstick, list[float]],
    rule: Rule,
) -> Finding:
    if then is None:
        return Finding(
            benchmark=benchmark, verdict="not compared", note="the reference does not have it"
        )
    changes = {
        yardstick: _change(then[yardstick], now[yardstick], rule)
        for yardstick in now
        if yardstick in then
    }
    values = [change.value for change in changes.values()]
    whole = Estimate(
        float(np.median(values)),
        min(change.low for change in changes.values()),
        max(change.high for change in changes.values()),
    )
    said = ", ".join(f"{name} {change.value - 1:+.1%}" for name, change in changes.items())
    return Finding(
        benchmark=benchmark,
        verdict=rule.verdict(whole),
        ratio=whole.value,
        low=whole.low,
        high=whole.high,
        note=f"by yardstick: {said}; they disagree by {max(values) - min(values):.1%}",
    )


def _change(then: list[float], now: list[float], rule: Rule) -> Estimate:
    """How the ratio to one yardstick has changed, by Welch's interval."""
    confidence = 1 - 2 * (1 - rule.confidence) / rule.benchmarks
    result = stats.ttest_ind(now, then, equal_var=False).confidence_interval(confidence)
    value = float(np.mean(now) - np.mean(then))
    return Estimate(math.exp(value), math.exp(float(result.low)), math.exp(float(result.high)))


def _yardsticks(cell: Cell) -> list[Cell]:
    """The yardsticks on the data, threads and device of a benchmark."""
    shared: dict[str, Any] = {"backend": "torch", "paper_row": None, "params": {}, "axes": {}}
    return [cell.model_copy(update={"method": n, "label": n, **shared}) for n in YARDSTICKS]


def _log_ratios(record: Record, yardstick: Record) -> list[float]:
    """Of each process, the median over the rounds that both were in."""
    ours, theirs = record.timing, yardstick.timing
    assert ours is not None  # noqa: S101, none failed
    assert theirs is not None  # noqa: S101, as above
    return [
        float(np.median(np.log(np.asarray(a) / np.asarray(b))))
        for a, b in zip(ours.by_process()[0], theirs.by_process()[0], strict=True)
    ]
