"""The log of a training as a figure."""

from __future__ import annotations

from pathlib import Path

from pacbench.train.checkpoint import read_about, read_log


def plot_log(log: Path, path: Path) -> None:
    """Draw the loss and the validation score of a log over its iterations.

    What the score is, the training.json beside the log tells.
    """
    from matplotlib.figure import Figure

    from pacbench.report.goals import Goal
    from pacbench.suite.cells import Cell

    cell = read_about(log.parent).get("cell")
    goal = Goal.of(Cell.model_validate(cell)) if cell else None
    rows = read_log(log)
    iterations = [int(row["iteration"]) for row in rows]
    found = [float(row["score"]) for row in rows]
    figure = Figure(figsize=(5, 3), layout="constrained")
    losses = figure.add_subplot(xlabel="iteration", ylabel="loss, mean since the last validation")
    scores = losses.twinx()
    scores.set_ylabel(f"validation: {goal.score.title}" if goal else "validation score")
    shown = [goal.shown(score) for score in found] if goal else found
    lines = [
        *losses.plot(iterations, [float(row["loss"]) for row in rows], "C0.-", label="loss"),
        *scores.plot(iterations, shown, "C1.-", label=goal.score.name if goal else "score"),
    ]
    losses.legend(handles=lines, frameon=False)
    figure.savefig(path, dpi=120)
