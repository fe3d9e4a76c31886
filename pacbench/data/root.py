"""Where a dataset's files are, and what to say when they are not there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from pacbench.errors import UserError


def _at_home(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError as error:  # ~somebody, who is not there
        raise ValueError(str(error)) from error


UserPath = Annotated[Path, AfterValidator(_at_home)]
"""A path as people write it in a suite: ``~`` is their home."""


def open_hint(name: str) -> str:
    """What a user can do about a dataset that is missing or damaged."""
    return (
        f"'pacbench data fetch {name} --root DIR' downloads it; "
        "in a suite, 'root: DIR' under the params of data names the folder"
    )


def need(path: Path, name: str) -> Path:
    """The path, or ``UserError`` if there is nothing at it."""
    if not path.exists():
        raise UserError(f"dataset '{name}' is missing: no {path}; {open_hint(name)}")
    return path


def first_existing(root: Path, candidates: Sequence[str], marker: str, name: str) -> Path:
    """The first candidate folder under ``root`` that holds ``marker``; archives nest differently.

    Raises:
        UserError: none does.
    """
    for candidate in candidates:
        if (root / candidate / marker).exists():
            return root / candidate
    looked = ", ".join(str(root / candidate / marker) for candidate in candidates)
    raise UserError(f"dataset '{name}' is missing: looked for {looked}; {open_hint(name)}")
