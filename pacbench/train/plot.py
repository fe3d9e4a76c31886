"""The log of a training as a figure."""

from __future__ import annotations

from pathlib import Path

from pacbench.train.checkpoint import read_log


def plot_log(log: Path, path: Path) -> None:
    """Draw the loss and the validation score of a log over its iterations."""
    from matplotlib.figure import Figure

    rows = read_log(log)
    iterations = [int(row["iteration"]) for row in rows]
    figure = Figure(figsize=(5, 3), layout="constrained")
    losses = figure.add_subplot(xlabel="iteration", ylabel="loss, mean since the last validation")
    scores = losses.twinx()
    scores.set_ylabel("validation score")
    lines = [
        *losses.plot(iterations, [float(row["loss"]) for row in rows], "C0.-", label="loss"),
        *scores.plot(iterations, [float(row["score"]) for row in rows], "C1.-", label="score"),
    ]
    losses.legend(handles=lines, frameon=False)
    figure.savefig(path, dpi=120)
