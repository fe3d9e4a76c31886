"""The figure that methods are tuned and trained for, in words: ``RMSE 15.33 cm``."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pacbench.report.scores import SCORES, Score
from pacbench.suite.cells import Cell
from pacbench.tasks import tasks


@dataclass(frozen=True)
class Goal:
    """How the goal of a cell's task is shown."""

    score: Score

    @classmethod
    def of(cls, cell: Cell) -> Goal:
        task = tasks[cell.task]
        metric = task.goal_of(task.Protocol(**cell.protocol))
        other = Score(metric, metric, "", 1, 4, "more" if task.larger_is_better else "less")
        return cls(next((score for score in SCORES if score.metric == metric), other))

    def shown(self, validation: float) -> float:
        """A validation score, which is the larger the better, as the figure that tables have."""
        return self.score.scale * (validation if self.score.better == "more" else -validation)

    def text(self, validation: float) -> str:
        """The same with its name and unit."""
        value = self.shown(validation)
        figure = f"{value:.{self.score.digits}f}" if math.isfinite(value) else "undefined"
        return f"{self.score.name} {figure} {self.score.unit}".rstrip()
