"""Baselines by revision, folder and run: built once, beside the packages of this environment."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pacbench.cli import app
from pacbench.environment import capture
from pacbench.errors import UserError
from pacbench.gate import installation
from pacbench.gate.installation import resolve
from pacbench.gate.pairs import Side
from pacbench.session import plan
from pacbench.store import RunFolder

PROJECT = """
[build-system]
requires = ["scikit-build-core"]
build-backend = "scikit_build_core.build"
[project]
name = "pacbench"
version = "9.9"
[tool.scikit-build]
wheel.cmake = false
"""


def git(*arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    command = ["git", *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small pacbench with two commits, as the working folder."""
    root = tmp_path / "repository"
    (root / "pacbench").mkdir(parents=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(root)
    git("init", "--quiet")
    Path("pyproject.toml").write_text(PROJECT)
    for word in ("old", "new"):
        Path("pacbench/__init__.py").write_text(f"word = '{word}'\n")
        git("add", ".")
        git("commit", "--quiet", "--message", word)
    return root


def word_of(side: Side) -> str:
    """What the pacbench of a side says, in a process that also finds the packages of this one."""
    program = "import numpy, pacbench; print(pacbench.word)"
    command = [side.python, "-P", "-c", program]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def make_run(root: Path, **changes: object) -> Path:
    environment = capture(1).model_copy(update=changes)
    return RunFolder.create(root / "runs", "gate", "", environment, plan("gate").info).path


def test_a_revision_is_built_once(repository: Path) -> None:
    old = resolve("HEAD~1")
    assert word_of(old) == "old"
    assert old.name == f"HEAD~1 ({git('rev-parse', 'HEAD~1')[:12]})"
    built = Path(old.python).parents[1].stat().st_ino
    assert resolve("HEAD~1") == old
    assert Path(old.python).parents[1].stat().st_ino == built
    Path("pacbench/__init__.py").write_text("word = 'not committed'\n")
    assert word_of(resolve(str(repository))) == "not committed"


def test_a_run_stands_for_its_commit(repository: Path) -> None:
    commit = git("rev-parse", "HEAD~1")
    run = make_run(repository, commit=commit, dirty=True)
    side = resolve(str(run))
    assert word_of(side) == "old"
    assert side.name == f"{run} ({commit[:12]}, without its local changes)"
    with pytest.raises(UserError, match="does not say which commit"):
        resolve(str(make_run(repository, commit=None)))


def test_other_environments_do_not_share_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those who have other packages would be compared with what runs on these."""
    here = installation._python("abc")
    assert installation._python("abc") == here
    monkeypatch.setattr("sysconfig.get_path", lambda _: "/elsewhere/site-packages")
    assert installation._python("abc") != here


@pytest.mark.usefixtures("repository")
def test_runs_are_named_as_elsewhere() -> None:
    result = CliRunner().invoke(app, ["gate", "--baseline", "latest", "--quiet"])
    assert isinstance(result.exception, UserError)
    assert "holds no run yet" in str(result.exception)
