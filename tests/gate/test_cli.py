"""The commands of measuring as a user calls them."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from made_results import crf_results, write_run
from typer.testing import CliRunner

from pacbench.cli import app
from pacbench.errors import UserError
from pacbench.gate.session import Report


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
        (["gate", "--self-test", "--instructions", "on"], "--instructions on: should be auto or"),
        (["gate", "--self-test", "--suite", "gat"], r"did you mean 'gate'"),
        (["gate", "--against", "nothing.json"], "nothing.json: cannot be read"),
        (["compare", "nothing"], "is not a run folder"),
        (["history", "nothing"], "nothing: no run in it"),
        (["history", "nothing/records.jsonl"], "records.jsonl: no run in it"),
        (["export", "nothing", "--format", "xml"], "--format xml: allowed: pytest-benchmark, asv"),
    ],
)
def test_mistakes(arguments: list[str], expected: str) -> None:
    with pytest.raises(UserError, match=expected):
        invoke(*arguments)


def test_a_verdict_is_written_for_people_programs_and_ci(tmp_path: Path) -> None:
    suite = tmp_path / "one.yaml"
    suite.write_text(
        "{name: one, task: op, data: {name: tensors, params: {size: [8, 8], channels: 2}}, "
        "methods: [{name: pac_pool2d}], threads: 1}"
    )
    files = {kind: tmp_path / kind for kind in ("markdown", "json", "junit")}
    options = [text for kind, path in files.items() for text in (f"--{kind}", str(path))]
    baseline = str(Path(sys.executable).parents[1])
    arguments = ["gate", "--baseline", baseline, "--suite", str(suite), "--budget", "0.1s"]
    result = CliRunner().invoke(app, [*arguments, "--instructions", "off", *options])
    assert result.exit_code == 3  # one pair is too few
    assert files["markdown"].read_text() in result.output
    report = Report.model_validate_json(files["json"].read_text())
    assert [len(finding.log_ratios) for finding in report.findings] == [1]
    assert report.instructions == ""
    assert 'errors="1"' in files["junit"].read_text()


@pytest.mark.parametrize("command", ["gate", "compare", "history", "export"])
def test_help_has_an_example(command: str) -> None:
    assert f"Example: pacbench {command}" in invoke(command, "--help")


def test_runs_of_different_cpus_are_not_compared_in_silence(tmp_path: Path) -> None:
    made = crf_results()
    here = write_run(made, tmp_path)
    elsewhere = made.environment.model_copy(update={"cpu": "another"})
    there = write_run(replace(made, environments={elsewhere.id: elsewhere}), tmp_path)
    assert "warning: times of different CPUs" in invoke("compare", here, there)
    assert "warning" not in invoke("compare", here, here)


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
    (records,) = runs.glob("*/records.jsonl")
    assert invoke("history", records) == invoke("history", runs)
    with pytest.raises(UserError, match=r"should end with \.png"):
        invoke("compare", "latest", "--plot", "forest.gif", "--out", runs)
