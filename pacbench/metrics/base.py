"""How outputs are scored: every image on its own, and the split as a whole."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from pacbench.data.base import Sample


class Score(ABC):
    """Collects the outputs of one split.

    ``add`` returns the metrics of that image alone, so that a record can give a mean its
    confidence interval; ``result`` returns those of the split. Both map a metric's name, which
    holds its unit where it has one, to its value; a metric that is undefined (no valid pixel, no
    edge) is NaN.
    """

    protocol: str
    """What was scored and how, as records carry it."""

    @abstractmethod
    def add(self, output: NDArray[np.generic], sample: Sample) -> dict[str, float]: ...

    @abstractmethod
    def result(self) -> dict[str, float]: ...


class MeanOverImages:
    """The mean of per-image metrics; images on which a metric is undefined do not count for it."""

    def __init__(self) -> None:
        self._rows: list[dict[str, float]] = []

    def add(self, row: dict[str, float]) -> dict[str, float]:
        self._rows.append(row)
        return row

    def result(self) -> dict[str, float]:
        names = self._rows[0] if self._rows else {}
        return {name: _mean_of_defined([row[name] for row in self._rows]) for name in names}


def _mean_of_defined(values: list[float]) -> float:
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else float("nan")


def need_same_shape(output: NDArray[np.generic], target: NDArray[np.generic]) -> None:
    """Raises ``ValueError`` unless both have one shape: broadcasting would score nonsense."""
    if output.shape != target.shape:
        raise ValueError(f"the output has shape {output.shape}, its target {target.shape}")
