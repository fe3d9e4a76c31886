"""Files of the paper's release, written as files of weights here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
import yaml

from pacbench.errors import UserError
from pacbench.train.checkpoint import load, save
from pacbench.train.release import Imported, import_release
from pacbench.train.weights import sha256_of


def import_file(file: Path, out: Path, name: str, params: dict[str, Any]) -> list[str]:
    """Convert a weight file of the release into a folder per method that it has weights for.

    Args:
        file: a state dict, as the release saves it.
        out: where to make the folders ``name/METHOD``, each with weights.pt and import.json.
        name: of the weights.
        params: what the file does not say of the method, as dilations.

    Returns:
        An entry of ``methods:`` for each method, in YAML, to be put into a suite.
    """
    state = load(file)
    if not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise UserError(f"{file}: is no state dict; the release's files weights_epoch_N.pth are")
    return [_write(part, file, out / name / part.method, params) for part in import_release(state)]


def _write(part: Imported, file: Path, folder: Path, params: dict[str, Any]) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    weights = folder / "weights.pt"
    save(weights, {key: value.clone() for key, value in part.state.items()})
    chosen = part.params | {key: value for key, value in params.items() if key in part.params}
    about = {
        "source": file.name,
        "source_sha256": sha256_of(file),
        "method": part.method,
        "params": chosen,
        "protocol": part.protocol,
    }
    text = json.dumps(about, indent=2) + "\n"
    (folder / "import.json").write_text(text, encoding="utf-8")
    entry = {"name": part.method, "params": {**chosen, "weights": str(weights)}}
    line: str = yaml.safe_dump([entry], default_flow_style=None, sort_keys=False, width=200)
    needs = "".join(f"  # protocol: {key}: {value}" for key, value in part.protocol.items())
    return line.rstrip() + needs
