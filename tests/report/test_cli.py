"""`pacbench table` and `pacbench plot` on run folders."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from made_results import ENVIRONMENT, crf_results, write_run
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
    elsewhere = replace(made, environments={other.id: other}, records=made.records[:1])
    folder = str(write_run(elsewhere, tmp_path))
    with pytest.raises(UserError, match=r"torch: .*, 1\.0"):
        call("table", halves[0], folder)
    assert "torch 1.0" in call("table", halves[0], folder, "--mix-environments")


def test_figures_go_to_the_first_run(halves: list[str]) -> None:
    paths = [Path(line) for line in call("plot", *halves, "--format", "svg").splitlines()]
    assert [path.name for path in paths] == ["crf-trade-off.svg", "crf-timings.svg"]
    assert all(path.parent == Path(halves[0]) / "figures" for path in paths)
    with pytest.raises(UserError, match="--format gif: allowed: png, pdf, svg"):
        call("plot", halves[0], "--format", "gif")
