"""The commands as a user calls them: output, exit codes, no traceback for a mistake."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from pacbench.cli import app
from pacbench.errors import UserError

WriteSuite = Callable[..., Path]
Pacbench = Callable[..., subprocess.CompletedProcess[str]]


def invoke(*arguments: object) -> str:
    """Call a command in this process, which saves the second that torch takes to import."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def test_run_prints_a_table_and_fills_a_run_folder(
    write_suite: WriteSuite, pacbench: Pacbench, tmp_path: Path
) -> None:
    suite = write_suite(
        methods=[
            {"name": "unary"},
            {"name": "copies"},
            {"name": "pac_crf", "params": {"steps": 1}},
        ],
        outputs={"figures": ["png"], "tables": ["md", "latex", "csv"], "pictures": 1},
        paper_table="tab_crf",
    )
    done = pacbench("run", suite)
    assert done.returncode == 0, done.stderr
    assert "| method" in done.stdout
    assert "[3/3]" in done.stderr
    (run,) = (tmp_path / "results" / "runs").iterdir()
    assert run.name.startswith("small-")
    assert f"run folder: {run.relative_to(tmp_path)}" in done.stdout
    assert (run / "suite.yaml").read_bytes() == suite.read_bytes()
    environment = json.loads((run / "environment.json").read_text())
    assert environment["torch"] == version("torch")
    assert environment["packages"]["numpy"] == version("numpy")
    assert len((run / "records.jsonl").read_text().splitlines()) == 3
    assert sorted(path.name for path in (run / "tables").iterdir()) == [
        "small.csv",
        "small.md",
        "small.tex",
    ]
    assert sorted(path.name for path in (run / "figures").iterdir()) == [
        "small-pictures.png",
        "small-timings.png",
        "small-trade-off.png",
    ]
    for name, start in [("md", "**small**"), ("latex", "\\begin{table}"), ("csv", "method,")]:
        shown = pacbench("table", "latest", "--format", name)
        assert shown.stdout.startswith(start), shown.stderr
    plotted = pacbench("plot", run, "--format", "svg")
    assert len(plotted.stdout.splitlines()) == 3
    assert all((tmp_path / line).is_file() for line in plotted.stdout.splitlines())


def test_a_failed_cell_is_exit_code_1_and_the_others_run(
    write_suite: WriteSuite, pacbench: Pacbench
) -> None:
    suite = write_suite(methods=[{"name": "raises"}, {"name": "copies"}])
    done = pacbench("run", suite, "--quiet")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "failed: Copies [native, cpu]: error: RuntimeError: the lattice is full" in (
        done.stderr.replace("reference", "native")
    )
    assert "Traceback" not in done.stderr
    table = pacbench("table", "latest").stdout
    assert "failed [1]" in table
    assert "[1] error: RuntimeError: the lattice is full" in table


def test_a_mistake_is_exit_code_2_without_traceback(
    write_suite: WriteSuite, pacbench: Pacbench
) -> None:
    done = pacbench("run", write_suite(repeats=0, methods=[{"nam": "copies"}]))
    assert done.returncode == 2
    assert done.stderr.count("suite.yaml:") == 3
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "name a suite to run"),
        (["crf", "--resume", "x"], "not both"),
        (["--resume", "nothing"], "is not a run folder"),
        (["--resume", "nothing", "--threads", "2"], "drop the rest"),
        (["crf", "--filter", "pac"], "should be KEY=GLOB"),
        (["crf", "--device", "gpu"], "allowed: cpu, cuda, auto"),
    ],
)
def test_mistaken_options(arguments: list[str], expected: str) -> None:
    with pytest.raises(UserError, match=expected):
        invoke("run", *arguments)


def test_unwritable_output_folder(write_suite: WriteSuite, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        invoke("run", write_suite(), "--out", tmp_path / "taken")


def test_device_cuda_is_refused_where_there_is_none(write_suite: WriteSuite) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has a CUDA device")
    with pytest.raises(UserError, match="device cuda: torch"):
        invoke("run", write_suite(), "--device", "cuda")
    assert "device cpu" in invoke("run", write_suite(), "--device", "auto", "--dry-run")


def test_dry_run_and_list_cells_run_nothing(write_suite: WriteSuite, tmp_path: Path) -> None:
    suite = write_suite(sweep={"number": [1, 2]})
    shown = invoke("run", suite, "--dry-run", "--threads", 3, "--out", tmp_path / "runs")
    assert "2 cells, 6 timed runs per sample, 3 threads, device cpu; nothing was run" in shown
    listed = invoke("run", suite, "--list-cells", "--filter", "number=2").splitlines()
    assert [line.split("  ")[1].split(" [")[0] for line in listed] == ["Copies number=2"]
    assert not (tmp_path / "runs").exists()


def test_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "broken.yaml").write_text("- a list\n")
    monkeypatch.chdir(tmp_path)
    suites = [line.split()[:2] for line in invoke("list", "suites").splitlines()]
    assert ["crf", "crf"] in suites
    assert ["broken", "invalid"] in suites
    methods = invoke("list", "methods")
    for name in ("unary", "full_crf", "pac_crf", "copies"):  # the last from another package
        assert f"\n{name} " in methods
    assert "scenes " in invoke("list", "datasets")


def test_schema_accepts_the_packaged_suites_and_refuses_mistakes() -> None:
    import yaml

    from pacbench.suite import packaged_suites

    schema = json.loads(invoke("schema"))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    for path in packaged_suites():
        suite = yaml.safe_load(path.read_text())
        assert list(validator.iter_errors(suite)) == []
        suite["methods"][0]["name"] = "unheard_of"
        suite["methods"][1]["params"] = {"unheard_of": 1}
        assert len(list(validator.iter_errors(suite))) == 2


def test_doctor_names_everything() -> None:
    shown = invoke("doctor")
    names = ("C++ compiler", "CPU", "threads", "torch", "native kernels", "pydensecrf", "GPU")
    for name in (*names, "nvcc", "CUDA kernels", "clock"):
        assert f"  {name}: " in shown


@pytest.mark.parametrize("command", ["run", "table", "plot", "list", "schema", "doctor"])
def test_help_has_an_example(command: str) -> None:
    assert f"Example: pacbench {command}" in invoke(command, "--help")


def test_version() -> None:
    assert invoke("--version") == f"pacbench {version('pacbench')}\n"
