"""Files of the paper's release, written as files of weights here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml

from pacbench.backend import resolve_backend
from pacbench.data.base import Sample
from pacbench.errors import UserError
from pacbench.method import Context, LearnableMethod, methods
from pacbench.tasks import tasks
from pacbench.train.checkpoint import load, save
from pacbench.train.release import Imported, import_release
from pacbench.train.weights import load_state, sha256_of


def import_file(file: Path, out: Path, name: str, params: dict[str, Any]) -> list[str]:
    """Convert a weight file of the release into a folder per method that it has weights for.

    Args:
        file: a state dict, as the release saves it.
        out: where to make the folders ``name/METHOD``, each with weights.pt and import.json.
        name: of the weights.
        params: what the file does not say of the method, as dilations.

    Returns:
        An entry of ``methods:`` for each method, in YAML, to be put into a suite.

    Raises:
        UserError: none of the kinds that are known, or tensors that do not fit their method;
            nothing is written then.
    """
    state = load(file)
    if not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise UserError(f"{file}: is no state dict; the release's files weights_epoch_N.pth are")
    parts = [(part, _chosen(part, params)) for part in import_release(state)]
    for part, chosen in parts:
        _check(part, chosen, file)
    return [_write(part, chosen, file, out / name / part.method) for part, chosen in parts]


def _chosen(part: Imported, params: dict[str, Any]) -> dict[str, Any]:
    """The method's parameters, those that the user knows better replaced."""
    return part.params | {key: value for key, value in params.items() if key in part.params}


def _check(part: Imported, params: dict[str, Any], file: Path) -> None:
    """Build the method and load the weights into it."""
    cls = methods[part.method]
    otherwise = f"{file}: has keys of {cls.info.title}, but does not fit it"
    sample = Sample(
        name="none",
        image=np.zeros((3, 1, 1), np.uint8),
        unary=np.zeros((part.labels, 1, 1), np.float32),
    )
    protocol = tasks[cls.info.task].Protocol(**part.protocol)
    context = Context("cpu", resolve_backend("auto", cls, "cpu"), 1, 0, sample, protocol)
    try:
        method = cls(cls.Params(**params), context)
    except ValueError as error:  # no such network, as a lite one of factor 2
        raise UserError(f"{otherwise}: {error}") from None
    assert isinstance(method, LearnableMethod)  # noqa: S101, the release has weights of no other
    load_state(method.module, part.state, otherwise)


def _write(part: Imported, params: dict[str, Any], file: Path, folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    weights = folder / "weights.pt"
    save(weights, {key: value.clone() for key, value in part.state.items()})
    about = {
        "source": file.name,
        "source_sha256": sha256_of(file),
        "method": part.method,
        "params": params,
        "protocol": part.protocol,
        "unsaid": part.unsaid,
    }
    text = json.dumps(about, indent=2) + "\n"
    (folder / "import.json").write_text(text, encoding="utf-8")
    return _entry(part, params, str(weights))


def _entry(part: Imported, params: dict[str, Any], weights: str) -> str:
    """What to put into a suite; the weights only for the protocol that they were made for."""
    entry: dict[str, Any] = {"name": part.method}
    if part.protocol:
        entry |= {"params": params} if params else {}
        entry["params_at"] = {
            key: {value: {"weights": weights}} for key, value in part.protocol.items()
        }
    else:
        entry["params"] = {**params, "weights": weights}
    text: str = yaml.safe_dump([entry], default_flow_style=None, sort_keys=False, width=200)
    return text.rstrip() + (f"\n# the file does not say: {part.unsaid}" if part.unsaid else "")
