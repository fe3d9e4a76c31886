"""What every task gives: a score per image, a score over the split, pictures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacbench.data.base import Sample
from pacbench.registry import Registry

Array = NDArray[Any]
Picture = NDArray[np.uint8]


class Task(ABC):
    """Scores the outputs of one cell, sample by sample.

    Attributes:
        protocol: how outputs are scored, in words that stand beside every figure.
        goal: the metric of the summary that methods are tuned for.
        larger_is_better: whether the goal is to be large.
    """

    protocol: str
    goal: ClassVar[str] = ""
    larger_is_better: ClassVar[bool] = True

    @abstractmethod
    def __init__(self, example: Sample) -> None: ...

    @abstractmethod
    def score(self, output: Array, sample: Sample) -> dict[str, float]:
        """Metrics of one sample, which also enter the summary; NaN where one is undefined."""

    @abstractmethod
    def summary(self) -> dict[str, float]:
        """Metrics over all samples scored so far."""

    @abstractmethod
    def pictures(self, output: Array, sample: Sample) -> dict[str, Picture]:
        """Images (H, W, 3) to look at: ``image``, ``truth`` and ``output``."""


tasks: Registry[Task] = Registry("task", ("pacbench.tasks",), "pacbench.tasks")
