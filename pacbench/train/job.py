"""One training as a suite describes it: which method, on what, into which folder."""

from __future__ import annotations

import json
import re
from pathlib import Path

import torch

from pacbench.data.base import Dataset, datasets
from pacbench.environment import capture
from pacbench.errors import UserError, listing
from pacbench.method import LearnableMethod, Method, MethodParams, methods
from pacbench.suite.cells import Cell
from pacbench.suite.schema import DataSpec, Suite
from pacbench.train.learning import learnings
from pacbench.train.processes import joined_team
from pacbench.train.spec import TrainingSpec
from pacbench.train.trainer import train


def learnable(suite: Suite, cells: list[Cell]) -> list[Cell]:
    """Those cells whose method has weights to train."""
    if suite.training is None:
        raise UserError(f"suite '{suite.name}' has no `training:`; it says how to train")
    if suite.task not in learnings:
        raise UserError(f"task '{suite.task}' cannot be trained; allowed: {listing(learnings)}")
    found = [cell for cell in cells if methods[cell.method].info.learnable]
    if not found:
        names = [name for name in methods if methods[name].info.learnable]
        raise UserError(f"nothing here can be trained; learnable methods: {listing(names)}")
    return found


def run_training(
    cell: Cell, spec: TrainingSpec, root: Path, command: str, quiet: bool = False
) -> tuple[Path, float]:
    """Train the method of a cell into a folder of its own under ``root``.

    Returns:
        The folder and the best validation score.
    """
    folder = root / slug(cell)
    spec = spec.for_method(cell.method, cell.label)
    torch.set_num_threads(cell.threads)
    torch.manual_seed(cell.seed)
    validation = _open(cell.data, {}, spec.validation_split, cell.seed)
    training = _open(cell.data, spec.params, spec.split, cell.seed)
    cls = methods[cell.method]
    with joined_team(cell.device) as team:
        method = cls(_untrained(cls, cell), cell.context(validation[0]))
        if not isinstance(method, LearnableMethod):
            raise UserError(f"'{cell.label}' has no module to train")
        learning = learnings[cell.task](training, validation, spec, cell)
        best = train(method.module, learning, spec, folder, quiet, team)
        about = {
            "command": command,
            "cell": cell.model_dump(mode="json"),
            "training": spec.model_dump(mode="json"),
            "processes": team.size,
            "best_score": best,
            "environment": capture(cell.threads).model_dump(mode="json"),
        }
        if team.leads:
            text = json.dumps(about, indent=2) + "\n"
            (folder / "training.json").write_text(text, encoding="utf-8")
    return folder, best


def _untrained(cls: type[Method], cell: Cell) -> MethodParams:
    """The parameters without the weights that the suite runs it with: training starts afresh."""
    return cls.Params(**{key: value for key, value in cell.params.items() if key != "weights"})


def slug(cell: Cell) -> str:
    """A folder name: ``pac-crf-16-64-steps-5``."""
    words = [cell.label, *(f"{axis} {value}" for axis, value in cell.axes.items())]
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-")


def _open(data: DataSpec, changed: dict[str, object], split: str, seed: int) -> Dataset:
    cls = datasets[data.name]
    return cls(cls.Params(**{**data.params, **changed}), split=split, seed=seed)
