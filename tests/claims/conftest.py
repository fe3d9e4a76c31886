"""A run on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_results import crf_results, write_run


@pytest.fixture
def crf_folder(tmp_path: Path) -> Path:
    """The folder of a small CRF run."""
    return write_run(crf_results(), tmp_path)
