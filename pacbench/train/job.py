"""One training as a suite describes it: which method, on what, into which folder."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel, ValidationError

from pacbench.environment import capture
from pacbench.errors import UserError, listing
from pacbench.method import LearnableMethod, Method, MethodParams, methods
from pacbench.suite.cells import Cell
from pacbench.suite.schema import Suite
from pacbench.train.checkpoint import read_about, write_about
from pacbench.train.learning import Learning, learnings
from pacbench.train.processes import joined_team
from pacbench.train.samples import Part, Samples, open_samples
from pacbench.train.spec import TrainingSpec
from pacbench.train.trainer import train

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
        The folder and the validation score of the weights that are kept; larger is better.

    Raises:
        UserError: data that cannot be trained on, or a folder that holds another training.
    """
    folder = root / slug(cell)
    spec = spec.for_method(cell.method, cell.label)
    torch.set_num_threads(cell.threads)
    torch.manual_seed(cell.seed)
    training, validation = open_samples(cell.data, spec, cell.seed)
    with joined_team(cell.device) as team:
        about = {
            "command": command,
            "cell": cell.model_dump(mode="json"),
            "training": spec.model_dump(mode="json"),
            "samples": {
                "training": len(training),
                "validation": len(validation),
                "held_out_of_training": isinstance(validation, Part),
            },
            "processes": team.size,
            "environment": capture(cell.threads).model_dump(mode="json"),
        }
        _check_same(folder, about)
        method, learning = _built(cell, spec, training, validation)
        if team.leads:
            write_about(folder, about)
        best = train(method.module, learning, spec, folder, quiet, team)
        if team.leads:
            write_about(folder, about | {f"{spec.keep}_score": best})
    return folder, best


def _built(
    cell: Cell, spec: TrainingSpec, training: Samples, validation: Samples
) -> tuple[LearnableMethod, Learning]:
    """The method with fresh weights, and what it learns, of which the first batch is tried."""
    cls = methods[cell.method]
    try:
        method = cls(_untrained(cls, cell), cell.context(validation[0]))
        learning = learnings[cell.task](training, validation, spec, cell)
        learning.batch(0)
    except ValueError as error:  # no labels, no depth, a crop that is larger than the image
        raise UserError(f"{cell}: cannot be trained on '{cell.data.name}': {error}") from None
    if not isinstance(method, LearnableMethod):
        raise UserError(f"'{cell.label}' has no module to train")
    return method, learning


def _check_same(folder: Path, about: dict[str, Any]) -> None:
    """A training goes on only as it began: else its weights are of none of its settings."""
    known = read_about(folder)
    if not known:
        return
    before = _settings(known)
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
    params = _with_defaults(methods[cell["method"]].Params, cell["params"])
    parts = {
        "": {key: cell[key] for key in DECIDES} | {"processes": about["processes"]},
        "params.": {key: value for key, value in params.items() if key != "weights"},
        "data.": {key: cell["data"][key] for key in ("name", "params")},
        "training.": _with_defaults(TrainingSpec, about["training"]),
    }
    return {prefix + key: value for prefix, part in parts.items() for key, value in part.items()}


def _with_defaults(model: type[BaseModel], values: dict[str, Any]) -> dict[str, Any]:
    """With those keys that are newer than the file: their defaults change nothing."""
    try:
        return model(**values).model_dump(mode="json")
    except ValidationError:  # of keys that are no more
        return values


def _untrained(cls: type[Method], cell: Cell) -> MethodParams:
    """The parameters without the weights that the suite runs it with: training starts afresh."""
    return cls.Params(**{key: value for key, value in cell.params.items() if key != "weights"})


def slug(cell: Cell) -> str:
    """A folder name: ``pac-crf-16-64-steps-5``."""
    words = [cell.label, *(f"{axis} {value}" for axis, value in cell.axes.items())]
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-")
