"""What a training is resumed from, and the papers that tell what it is and how it went."""

from __future__ import annotations

import csv
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from pacbench.errors import UserError

ABOUT = "training.json"
COLUMNS = ("iteration", "learning_rate", "loss", "score", "best")


@dataclass
class Progress:
    """How far a training has come.

    Attributes:
        iteration: steps done.
        best: the validation score of the weights that are kept; larger is better.
        stale: validations since then.
    """

    iteration: int = 0
    best: float = float("-inf")
    stale: int = 0

    @property
    def validated(self) -> bool:
        """Whether it has been validated, which it first is before any step."""
        return self.best > float("-inf")


def save(path: Path, content: dict[str, Any]) -> None:
    """Write a file that is either the old one or the new one, whenever the machine stops."""
    scratch = path.with_suffix(".tmp")
    with scratch.open("wb") as file:
        torch.save(content, file)
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)


def load(path: Path) -> dict[str, Any]:
    """A file of tensors, on the CPU, and plain values; nothing in it is executed."""
    try:
        content: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, ValueError) as error:
        raise UserError(f"{path}: cannot be read: {str(error).splitlines()[0]}") from None
    except Exception as error:  # torch wraps what a refused pickle raises in its own way
        raise UserError(f"{path}: is not a file of weights: {type(error).__name__}") from None
    return content


def write_about(folder: Path, about: dict[str, Any]) -> None:
    """Tell beside the weights how they are made: command, cell, settings, environment."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ABOUT).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def read_about(folder: Path) -> dict[str, Any]:
    """What :func:`write_about` wrote; nothing if there is none."""
    path = folder / ABOUT
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def score_of(about: dict[str, Any]) -> float:
    """The validation score of the weights that a training kept, the best or the last."""
    return float(about["best_score"] if "best_score" in about else about["last_score"])


class Log:
    """A CSV file with a row per validation."""

    def __init__(self, path: Path, progress: Progress) -> None:
        """Keep the rows of what is done: later ones are made again."""
        self.path = path
        done = progress.iteration if progress.validated else -1
        rows = [row for row in read_log(path) if int(row["iteration"]) <= done]
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)

    def add(self, **row: float) -> None:
        with self.path.open("a", newline="", encoding="utf-8") as file:
            csv.DictWriter(file, COLUMNS).writerow(row)


def read_log(path: Path) -> list[dict[str, str]]:
    """The rows of a log; none if there is no log."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
