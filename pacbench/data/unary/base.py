"""What every source of unaries is."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from pacbench.data.base import Sample


class UnarySource(BaseModel, ABC):
    """Parameters of a source, as they stand under ``unary:``; each has a ``name`` of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @property
    @abstractmethod
    def protocol(self) -> str:
        """How the unaries are made, as records carry it."""

    def need(self) -> None:
        """Raises ``UserError`` if files are missing that every sample needs."""

    @abstractmethod
    def logits(self, sample: Sample, classes: int, seed: int) -> NDArray[np.float32]:
        """(classes, H, W) float32 for a sample."""
