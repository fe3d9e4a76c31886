"""`pacbench table` and `pacbench plot` on run folders."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from made_results import ENVIRONMENT, crf_results, depth_results, write_run
from typer.testing import CliRunner

from pacbench.cli import app
from pacbench.errors import UserError


@pytest.fixture
def halves(tmp_path: Path) -> list[str]:
    """Two runs that have half of the methods each."""
    made = crf_results()
    parts = [made.records[:2], made.records[2:]]
    return [str(write_run(replace(made, records=part), tmp_path)) for part in parts]


def call(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_runs_print_as_one_table(halves: list[str]) -> None:
    assert "PAC-CRF, 16-64" not in call("table", halves[0])
    assert "PAC-CRF, 16-64" in call("table", *halves)
    rows = json.loads(call("table", *halves, "--format", "json"))["rows"]
    assert rows[0]["method"] == "Unaries only"
    assert len(rows) == 4
    assert r"\toprule" in call("table", *halves, "--format", "latex")
    with pytest.raises(UserError, match="--format html: allowed: md, latex, csv, json"):
        call("table", halves[0], "--format", "html")


def test_a_table_is_written_in_every_format(halves: list[str], tmp_path: Path) -> None:
    paths = [Path(line) for line in call("table", *halves, "-o", str(tmp_path / "t")).splitlines()]
    assert paths == [tmp_path / "t" / f"crf.{suffix}" for suffix in ("md", "tex", "csv", "json")]
    assert paths[0].read_text(encoding="utf-8") == call("table", *halves)
    with pytest.raises(UserError, match="cannot be written"):
        call("table", *halves, "-o", "/dev/null/tables")


def test_other_environments_are_refused_unless_told(halves: list[str], tmp_path: Path) -> None:
    made, other = crf_results(), ENVIRONMENT.model_copy(update={"torch": "1.0"})
    record = made.records[0].model_copy(update={"environment": other.id})
    elsewhere = replace(made, environments={other.id: other}, records=[record])
    folder = str(write_run(elsewhere, tmp_path))
    with pytest.raises(UserError, match=r"torch: .*, 1\.0"):
        call("table", halves[0], folder)
    mixed = call("table", halves[0], folder, "--mix-environments")
    assert "torch 1.0" in mixed
    assert mixed.count("| Unaries only") == 2


def test_what_merging_drops_is_said(halves: list[str], tmp_path: Path) -> None:
    again = str(write_run(replace(crf_results(), records=crf_results().records[:1]), tmp_path))
    for command in (["table"], ["claims", "--only", "crf-*"]):
        done = CliRunner().invoke(app, [*command, halves[0], again])
        assert (
            f"Unaries only [none, cpu]: is in several runs; that of {again} stands" in done.stderr
        )


def test_a_report_of_several_machines_says_so(halves: list[str], tmp_path: Path) -> None:
    other = ENVIRONMENT.model_copy(update={"cpu": "another"})
    depth = replace(depth_results(), environments={other.id: other})
    paths = [halves[0], str(write_run(depth, tmp_path))]
    done = CliRunner().invoke(app, ["report", *paths, "-o", str(tmp_path / "report.html")])
    assert done.exit_code == 0, done.output
    assert "warning: measured on different machines" in done.stderr
    assert "depth on another" in done.stderr


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (99, "schema_version: 99 is newer than 1, which this pacbench reads; update it"),
        (0, "schema_version: 0 is not known; this pacbench reads 1"),
    ],
)
def test_records_of_other_versions_are_told(halves: list[str], version: int, said: str) -> None:
    path = Path(halves[0]) / "records.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def write(changed: int) -> None:
        news = [{**line, "schema_version": version} for line in lines[:changed]]
        text = "".join(f"{json.dumps(line)}\n" for line in [*news, *lines[changed:]])
        path.write_text(text, encoding="utf-8")

    write(1)
    done = CliRunner().invoke(app, ["table", halves[0]])
    assert f"records.jsonl:1: ignored: {said}" in done.stderr
    assert "Full-CRF" in done.stdout
    write(2)
    with pytest.raises(UserError) as told:
        call("table", halves[0])
    assert "none of its records can be read" in str(told.value)
    assert f"records.jsonl:2: ignored: {said}" in str(told.value)


def test_figures_go_to_the_first_run(halves: list[str]) -> None:
    paths = [Path(line) for line in call("plot", *halves, "--format", "svg").splitlines()]
    assert [path.name for path in paths] == ["crf-trade-off.svg", "crf-timings.svg"]
    assert all(path.parent == Path(halves[0]) / "figures" for path in paths)
    with pytest.raises(UserError, match="--format gif: allowed: png, pdf, svg"):
        call("plot", halves[0], "--format", "gif")
