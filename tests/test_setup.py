"""Setting up says clearly what is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A checkout on a machine whose PATH holds nothing but what a test puts there."""
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "setup.sh", tmp_path / "tools")
    (tmp_path / "bin").mkdir()
    for name in ("sh", "dirname"):
        program = shutil.which(name)
        assert program is not None
        (tmp_path / "bin" / name).symlink_to(program)
    return tmp_path


def add_program(machine: Path, name: str, script: str) -> None:
    path = machine / "bin" / name
    path.write_text(f"#!{shutil.which('sh')}\n{script}\n")
    path.chmod(0o755)


def set_up(machine: Path) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k not in ("CXX", "PYTHON")}
    return subprocess.run(
        [machine / "tools" / "setup.sh"],
        env={**environment, "PATH": str(machine / "bin")},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_no_compiler(machine: Path) -> None:
    done = set_up(machine)
    assert done.returncode == 2
    assert "no C++ compiler ('c++' is not on the PATH)" in done.stderr


def test_no_python(machine: Path) -> None:
    add_program(machine, "c++", "exit 0")
    done = set_up(machine)
    assert done.returncode == 2
    assert "needs Python 3.11 or later; found: " in done.stderr


def test_python_too_old(machine: Path) -> None:
    add_program(machine, "c++", "exit 0")
    add_program(machine, "python3", '[ "$1" = --version ] && echo Python 3.9.1 || exit 1')
    done = set_up(machine)
    assert done.returncode == 2
    assert "needs Python 3.11 or later; found: Python 3.9.1" in done.stderr
    assert not (machine / ".venv").exists()
