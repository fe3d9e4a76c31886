"""What every task gives: a score per image, a score over the split, pictures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacbench.data.base import Sample
from pacbench.protocols.base import ProtocolParams
from pacbench.registry import Registry

Array = NDArray[Any]

Pictures = dict[str, Array]
"""By name, colours (H, W, 3) as uint8, or a map (C, H, W) as float32 in its unit, NaN = unknown."""


class Task(ABC):
    """Scores the outputs of one cell, sample by sample.

    Attributes:
        Protocol: what a suite may choose of how inputs are made, under ``protocol:``.
        protocol: how outputs are scored, in words that stand beside every figure.
        goal: the metric of the summary that methods are tuned and trained for.
        larger_is_better: whether the goal is to be large.
    """

    Protocol: ClassVar[type[ProtocolParams]] = ProtocolParams
    protocol: str
    goal: str = ""
    larger_is_better: ClassVar[bool] = True

    @abstractmethod
    def __init__(self, example: Sample, protocol: Any) -> None: ...

    @classmethod
    def goal_of(cls, protocol: Any) -> str:  # noqa: ARG003, for tasks that it decides
        """The goal by such a protocol."""
        return cls.goal

    @abstractmethod
    def score(self, output: Array, sample: Sample) -> dict[str, float]:
        """Metrics of one sample, which also enter the summary; NaN where one is undefined."""

    def counts(self) -> list[tuple[int, int]]:
        """Intersection and union per class of the last sample scored; empty if not counted so."""
        return []

    @abstractmethod
    def summary(self) -> dict[str, float]:
        """Metrics over all samples scored so far."""

    def edges(self, sample: Sample) -> int:  # noqa: ARG002, for tasks that have pictures
        """How often neighbours differ in the truth; samples that have most are kept as pictures."""
        return 0

    @abstractmethod
    def pictures(self, output: Array, sample: Sample) -> Pictures:
        """What there is to look at: ``image``, ``truth`` and ``output``, maybe an ``input``."""


def steps(truth: Array, least: float = 0.0) -> int:
    """How many 4-neighbours of a (C, H, W) truth differ by more than ``least``; NaN is unknown."""
    lengths = [np.linalg.norm(np.diff(truth, axis=axis), axis=0) for axis in (1, 2)]
    return sum(int((length > least).sum()) for length in lengths)


tasks: Registry[Task] = Registry("task", ("pacbench.tasks",), "pacbench.tasks")
