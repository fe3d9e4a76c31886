"""What was measured of a cell: every sample, their summary, and whether to trust it."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, computed_field, model_validator

from pacbench.timing.intervals import ByProcess, median, relative_half_width
from pacbench.timing.weather import Weather

UNSTABLE_SPREAD = 0.05


class Timing(BaseModel):
    """Seconds of one call, in every timed block of a cell, and their summary.

    Attributes:
        samples: per data sample, one entry per timed block: the seconds of one call in it.
        processes: beside ``samples``, the number of the worker process that each came from;
            within a process, blocks are in the order of the rounds.
        calls: per data sample, how many calls make a block.
        race: what cells that were timed in the same rounds share; empty for a cell on its own.
        median, minimum: over all blocks.
        throughput: data samples a second, by the median; None in records that did not say so yet.
        mad: median absolute deviation from each data sample's own median, so that samples that
            differ in work do not count as noise.
        low, high: 5th and 95th percentile.
        weather: what else went on meanwhile.
        unstable: why the measurement should not be trusted, empty if it can be.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    samples: list[list[float]]
    processes: list[list[int]] = []
    calls: list[int] = []
    race: str = ""
    median: float
    throughput: float | None = None
    mad: float
    minimum: float
    low: float
    high: float
    weather: Weather = Weather()
    unstable: str = ""

    @classmethod
    def of(
        cls,
        samples: list[list[float]],
        processes: list[list[int]] | None = None,
        calls: list[int] | None = None,
        race: str = "",
        weather: Weather | None = None,
    ) -> Timing:
        """Summarise; without ``processes``, all samples are of one process."""
        processes = processes or [[0] * len(blocks) for blocks in samples]
        weather = weather or Weather()
        blocks = np.concatenate([np.asarray(item) for item in samples])
        middle = float(np.median(blocks))
        residuals = np.concatenate([np.asarray(item) - np.median(item) for item in samples])
        mad = float(np.median(np.abs(residuals)))
        low, high = (float(q) for q in np.percentile(blocks, [5, 95]))
        return cls(
            samples=samples,
            processes=processes,
            calls=calls or [1] * len(samples),
            race=race,
            median=middle,
            throughput=1 / middle,
            mad=mad,
            minimum=float(blocks.min()),
            low=low,
            high=high,
            weather=weather,
            unstable=_instability(by_process(samples, processes), middle, mad, weather),
        )

    @computed_field  # type: ignore[prop-decorator]  # pydantic documents this order
    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the median in seconds; None where too few blocks tell it."""
        _, low, high = median(self.by_process())
        return (low, high) if math.isfinite(high) else None

    @model_validator(mode="before")
    @classmethod
    def _samples_tell_the_interval(cls, content: Any) -> Any:
        """Records hold it for other readers; those of earlier versions hold a narrower one."""
        if not isinstance(content, dict):
            return content
        return {name: value for name, value in content.items() if name != "interval"}

    def by_process(self) -> list[list[list[float]]]:
        """The samples per data sample and process, each in the order of the rounds."""
        return by_process(self.samples, self.processes)


def by_process(samples: ByProcess, processes: list[list[int]]) -> list[list[list[float]]]:
    """Per data sample and process, the blocks that were timed in it."""
    count = 1 + max((number for item in processes for number in item), default=0)
    split: list[list[list[float]]] = [[[] for _ in range(count)] for _ in samples]
    for item, blocks, numbers in zip(split, samples, processes, strict=True):
        for seconds, number in zip(blocks, numbers, strict=True):
            item[number].append(seconds)
    return split


def _instability(items: list[list[list[float]]], middle: float, mad: float, sky: Weather) -> str:
    """What varied, by how much, and what may have caused it."""
    count = sum(len(blocks) for item in items for blocks in item)
    if count < 3:
        return f"{count} timed block{'s' if count > 1 else ''}: the spread is not known"
    findings = []
    if mad > UNSTABLE_SPREAD * middle:
        findings.append(f"MAD is {mad / middle:.0%} of the median")
    drift = _largest([_drift(blocks) for item in items for blocks in item])
    if abs(drift) > UNSTABLE_SPREAD:
        findings.append(f"drifted by {drift:+.0%} within a process")
    luck = _largest([_disagreement(item) for item in items])
    if luck > UNSTABLE_SPREAD:
        findings.append(f"processes differ by {luck:.0%}")
    causes = sky.reasons() if findings else []
    return "; ".join(findings) + (f" ({', '.join(causes)})" if causes else "")


def _drift(blocks: list[float]) -> float:
    """From the first to the second half, where that is more than the halves' own noise."""
    half = len(blocks) // 2
    first, second = blocks[:half], blocks[-half:]
    if half < 4:
        return 0.0
    change = float(np.median(second) / np.median(first) - 1)
    noise = relative_half_width(first) + relative_half_width(second)
    return change if abs(change) > noise else 0.0


def _disagreement(item: list[list[float]]) -> float:
    medians = [float(np.median(blocks)) for blocks in item if len(blocks) >= 3]
    return max(medians) / min(medians) - 1 if len(medians) > 1 else 0.0


def _largest(changes: list[float]) -> float:
    return max(changes, key=abs, default=0.0)
