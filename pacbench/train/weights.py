"""Files of trained weights: a user's own, or those that come with the package."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path
from typing import Any

from torch import nn

from pacbench.errors import UserError, did_you_mean, listing
from pacbench.train.checkpoint import load


def load_weights(module: nn.Module, name: str) -> str:
    """Load weights into a module.

    Args:
        module: whose state dict the file holds.
        name: a path, or the name of weights that come with pacbench (``crf/pac-crf-32``).

    Returns:
        The file's sha256, for :attr:`pacbench.method.LearnableMethod.weights_sha256`.

    Raises:
        UserError: no such weights, or they do not fit.
    """
    path = find_weights(name)
    load_state(module, load(path), f"weights '{name}' do not fit this method")
    return sha256_of(path)


def load_state(module: nn.Module, state: dict[str, Any], otherwise: str) -> None:
    """Load a state dict into a module; if it does not fit, say so, and what of it does not.

    Raises:
        UserError: ``otherwise``, and the first reasons.
    """
    try:
        module.load_state_dict(state)
    except (RuntimeError, TypeError, AttributeError) as error:
        reasons = " ".join(line.strip() for line in str(error).splitlines()[1:3])
        raise UserError(f"{otherwise}: {reasons}") from None


def sha256_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def find_weights(name: str) -> Path:
    """The file behind a path or the name of packaged weights."""
    if Path(name).is_file():
        return Path(name)
    packaged = packaged_weights()
    if name in packaged:
        return packaged[name]
    raise UserError(
        f"weights '{name}': no such file, and none of that name come with pacbench"
        f"{did_you_mean(name, packaged)}; it has {listing(packaged)}; "
        "`pacbench train` makes new ones"
    )


def packaged_weights() -> dict[str, Path]:
    """The weights that come with the package, by name."""
    root = Path(str(files("pacbench.train"))).parent / "weights"
    return {str(path.relative_to(root).parent): path for path in sorted(root.rglob("weights.pt"))}
