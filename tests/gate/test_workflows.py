"""The workflow files are what GitHub takes, and call what there is."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from pacbench.cli import app

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def scripts(workflow: Path) -> list[str]:
    """What its steps run, with GitHub's expressions taken out."""
    jobs: dict[str, Any] = yaml.safe_load(workflow.read_text())["jobs"]
    steps = [step for job in jobs.values() for step in job["steps"]]
    return [re.sub(r"\$\{\{.*?\}\}", "VALUE", step["run"]) for step in steps if "run" in step]


@pytest.fixture
def gate_step() -> str:
    """The step of the gate's workflow that runs it."""
    (script,) = [s for s in scripts(ROOT / ".github" / "workflows" / "gate.yml") if " gate " in s]
    return script


def test_there_are_workflows() -> None:
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "gate.yml"]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_github_takes_it(workflow: Path) -> None:
    tool = Path(sys.executable).with_name("check-jsonschema")
    command = [tool, "--builtin-schema", "vendor.github-workflows", workflow]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_its_scripts_are_shell_and_its_targets_exist(workflow: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    for script in scripts(workflow):
        done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        for target in re.findall(r"\bmake ([a-z-]+)", script):
            assert f"\n{target}:" in makefile
        for program in re.findall(r"(?m)^\.ci/\S+", script):
            assert (ROOT / program).is_file()


def test_the_gates_options_exist(gate_step: str) -> None:
    used = set(re.findall(r"--[a-z]+", gate_step))
    gate = get_command(app).commands["gate"]  # type: ignore[attr-defined]
    known = {option for parameter in gate.params for option in parameter.opts}
    assert "--baseline" in used
    assert used <= known


@pytest.mark.parametrize(("code", "passes"), [(0, True), (1, False), (2, False), (3, True)])
def test_undecided_does_not_refuse_a_change(
    tmp_path: Path, gate_step: str, code: int, passes: bool
) -> None:
    """Runs the step as GitHub does, with a gate that ends with the code."""
    gate = tmp_path / ".venv" / "bin" / "pacbench"
    gate.parent.mkdir(parents=True)
    gate.write_text(f"#!/bin/sh\necho summary > gate.md\nexit {code}\n")
    gate.chmod(0o755)
    summary = tmp_path / "summary"
    done = subprocess.run(
        [str(shutil.which("bash")), "-e", "-c", gate_step],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "BASE": "main", "GITHUB_STEP_SUMMARY": str(summary)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode == 0) == passes
    assert summary.read_text() == "summary\n"
    assert ("::warning::" in done.stdout) == (code == 3)
