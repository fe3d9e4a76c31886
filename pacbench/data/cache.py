"""Arrays on disk, under the hash of what determines them."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacbench.errors import UserError

Arrays = dict[str, NDArray[Any]]


def cached(folder: Path, determined_by: dict[str, Any], make: Callable[[], Arrays]) -> Arrays:
    """What ``make`` returns, from the folder if it was made before.

    A file that is damaged is made again: the format has a checksum for each array. Several
    processes may share the folder.

    Args:
        determined_by: everything that the arrays depend on, fit for JSON.

    Raises:
        UserError: the folder cannot be written.
    """
    text = json.dumps(determined_by, sort_keys=True)
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.npz"
    try:
        # Opened here, as numpy leaves a damaged file open.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (OSError, EOFError, ValueError, zipfile.BadZipFile):
        arrays = make()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, suffix=".tmp", delete=False) as made:
            np.savez(made, allow_pickle=False, **arrays)
        os.replace(made.name, path)
    except OSError as error:
        raise UserError(f"the cache folder {folder} cannot be written: {error}") from error
    return arrays
