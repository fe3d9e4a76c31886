"""The commands of measuring as a user calls them."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from pacbench.cli import app
from pacbench.errors import UserError


def invoke(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["gate"], "name one of --baseline, --against, --write-reference and --self-test"),
        (["gate", "--self-test", "--baseline", "main"], "name one of"),
        (["gate", "--self-test", "--budget", "soon"], "--budget soon: should be a time"),
        (["gate", "--self-test", "--max-slowdown", "2"], "--max-slowdown 2: should be a share"),
        (["gate", "--self-test", "--suite", "gat"], r"did you mean 'gate'"),
        (["gate", "--against", "nothing.json"], "nothing.json: cannot be read"),
        (["compare", "nothing"], "is not a run folder"),
        (["history", "nothing"], "nothing: no run in it"),
        (["export", "nothing", "--format", "xml"], "--format xml: allowed: pytest-benchmark, asv"),
    ],
)
def test_mistakes(arguments: list[str], expected: str) -> None:
    with pytest.raises(UserError, match=expected):
        invoke(*arguments)


@pytest.mark.parametrize("command", ["gate", "compare", "history", "export"])
def test_help_has_an_example(command: str) -> None:
    assert f"Example: pacbench {command}" in invoke(command, "--help")


def test_a_run_is_exported_and_compared(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    invoke(
        "run", "gate", "--filter", "method=pac_conv*", "--set", "repeats=2",
        "--set", "timing={processes: 1, budget_seconds: 0}", "--out", runs, "--quiet",
    )  # fmt: skip
    assert "| PAC, training " in invoke("compare", "latest", "--out", runs)
    assert invoke("export", "latest", "--format", "csv", "--out", runs).startswith("cell,name,")
    written = invoke("export", "latest", "--format", "asv", "-o", tmp_path / "asv", "--out", runs)
    assert len(written.splitlines()) == 3
    with pytest.raises(UserError, match="name a folder"):
        invoke("export", "latest", "--format", "asv", "--out", runs)
    assert "| PAC [native" in invoke("history", runs, "--plot", tmp_path / "history.png")
    assert (tmp_path / "history.png").stat().st_size > 0
    with pytest.raises(UserError, match=r"should end with \.png"):
        invoke("compare", "latest", "--plot", "forest.gif", "--out", runs)
