"""What a task brings to a training: its batches, its loss, its score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Any

from torch import Tensor, nn

from pacbench.registry import Registry
from pacbench.suite.cells import Cell
from pacbench.train.samples import Samples
from pacbench.train.spec import TrainingSpec


class Learning(ABC):
    """Batches of a task for a module that learns it; registered under the task's name.

    Args:
        training: samples to learn from.
        validation: samples to score on.
        spec: crops, batch, how many samples to score and to keep in memory.
        cell: whose method learns: its seed is that of the order of samples and crops.
    """

    def __init__(
        self, training: Samples, validation: Samples, spec: TrainingSpec, cell: Cell
    ) -> None:
        self.training, self.validation = training, validation
        self.spec, self.cell = spec, cell
        self.seed, self.device = cell.seed, cell.device
        self.held_out = range(min(spec.validation_samples, len(validation)))
        self.training_sample = lru_cache(spec.cached_samples)(training.__getitem__)
        self.validation_sample = lru_cache(spec.cached_samples)(validation.__getitem__)

    @abstractmethod
    def batch(self, number: int, progress: float = 0.0) -> Any:
        """Inputs and targets: the same for the same number and progress.

        Args:
            progress: share of the training that is over.
        """

    @abstractmethod
    def loss(self, module: nn.Module, batch: Any) -> Tensor: ...

    @abstractmethod
    def validate(self, module: nn.Module) -> float:
        """A score on held-out samples; larger is better."""


learnings: Registry[Learning] = Registry("training", ("pacbench.train",), "pacbench.learnings")
