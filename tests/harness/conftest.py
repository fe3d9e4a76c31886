"""A small suite, the plugin of badly behaved methods, and the command line as a user calls it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pacbench.method import methods

PLUGIN = Path(__file__).parents[1] / "plugin"


@pytest.fixture(scope="session", autouse=True)
def plugin() -> None:
    """Install the plugin: on the path of this process and of every process that it starts."""
    os.environ["PYTHONPATH"] = str(PLUGIN)
    sys.path.insert(0, str(PLUGIN))
    methods.rediscover()


def small_suite(**changes: Any) -> dict[str, Any]:
    """A suite that takes a second: one tiny scene, one method."""
    return {
        "name": "small",
        "task": "crf",
        "data": {"name": "scenes", "split": "val", "limit": 1, "params": {"size": [24, 32]}},
        "methods": [{"name": "copies"}],
        "repeats": 3,
        "timing": {"processes": 1, "budget_seconds": 0},
        "outputs": {"figures": [], "tables": ["md"], "pictures": 0},
        **changes,
    }


@pytest.fixture
def write_suite(tmp_path: Path) -> Callable[..., Path]:
    """Write a suite file: the small one with changes, or any text."""

    def write(text: str | None = None, **changes: Any) -> Path:
        path = tmp_path / "suite.yaml"
        path.write_text(yaml.safe_dump(small_suite(**changes)) if text is None else text)
        return path

    return write


@pytest.fixture
def pacbench(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Call the command line in an empty folder."""

    def call(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pacbench", *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return call
