"""One training as a suite describes it: which method, on what, into which folder."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

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

ABOUT = "training.json"
DECIDES = ("method", "protocol", "backend", "device", "threads", "seed")
"""What of a cell decides the weights, beside its parameters and its data."""


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
        about = {
            "command": command,
            "cell": cell.model_dump(mode="json"),
            "training": spec.model_dump(mode="json"),
            "processes": team.size,
            "environment": capture(cell.threads).model_dump(mode="json"),
        }
        _check_same(folder, about)
        method = cls(_untrained(cls, cell), cell.context(validation[0]))
        if not isinstance(method, LearnableMethod):
            raise UserError(f"'{cell.label}' has no module to train")
        learning = learnings[cell.task](training, validation, spec, cell)
        if team.leads:
            _write(folder, about)
        best = train(method.module, learning, spec, folder, quiet, team)
        if team.leads:
            _write(folder, about | {"best_score": best})
    return folder, best


def _write(folder: Path, about: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(about, indent=2) + "\n"
    (folder / ABOUT).write_text(text, encoding="utf-8")


def _check_same(folder: Path, about: dict[str, Any]) -> None:
    """A training goes on only as it began: else its weights are of none of its settings."""
    if not (folder / ABOUT).exists():
        return
    before = _settings(json.loads((folder / ABOUT).read_text(encoding="utf-8")))
    changed = [
        f"{key} was {json.dumps(before.get(key))}, is {json.dumps(value)}"
        for key, value in _settings(about).items()
        if before.get(key) != value
    ]
    if changed:
        raise UserError(
            f"{folder}: holds a training with other settings: {'; '.join(changed[:3])}; "
            "train into another folder with --out, or remove it"
        )


def _settings(about: dict[str, Any]) -> dict[str, Any]:
    """What weights depend on, by name."""
    cell = about["cell"]
    parts = {
        "": {key: cell[key] for key in DECIDES} | {"processes": about["processes"]},
        "params.": {key: value for key, value in cell["params"].items() if key != "weights"},
        "data.": {key: cell["data"][key] for key in ("name", "params")},
        "training.": about["training"],
    }
    return {prefix + key: value for prefix, part in parts.items() for key, value in part.items()}


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
