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
Picture = NDArray[np.uint8]


class Task(ABC):
    """Scores the outputs of one cell, sample by sample.

    Attributes:
        Protocol: what a suite may choose of how inputs are made, under ``protocol:``.
        protocol: how outputs are scored, in words that stand beside every figure.
        goal: the metric of the summary that methods are tuned for.
        larger_is_better: whether the goal is to be large.
    """

    Protocol: ClassVar[type[ProtocolParams]] = ProtocolParams
    protocol: str
    goal: str = ""
    larger_is_better: ClassVar[bool] = True

    @abstractmethod
    def __init__(self, example: Sample, protocol: Any) -> None: ...

    @abstractmethod
    def score(self, output: Array, sample: Sample) -> dict[str, float]:
        """Metrics of one sample, which also enter the summary; NaN where one is undefined."""

    def counts(self) -> list[tuple[int, int]]:
        """Intersection and union per class of the last sample scored; empty if not counted so."""
        return []

    @abstractmethod
    def summary(self) -> dict[str, float]:
        """Metrics over all samples scored so far."""

    @abstractmethod
    def pictures(self, output: Array, sample: Sample) -> dict[str, Picture]:
        """Images (H, W, 3) to look at: ``image``, ``truth`` and ``output``, maybe ``error``."""


tasks: Registry[Task] = Registry("task", ("pacbench.tasks",), "pacbench.tasks")
