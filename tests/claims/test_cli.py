"""`pacbench claims` on run folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_claims import CLAIMS
from made_results import crf_results, depth_results, write_run
from typer.testing import CliRunner

from pacbench.cli import app
from pacbench.errors import UserError


@pytest.fixture
def crf_folder(tmp_path: Path) -> Path:
    """The folder of a small CRF run."""
    return write_run(crf_results(), tmp_path)


def call(*arguments: str, exit_code: int) -> str:
    run = CliRunner().invoke(app, ["claims", *arguments])
    assert run.exit_code == exit_code, run.output
    return run.output


def test_claims_are_printed_in_every_format(crf_folder: Path) -> None:
    some = (str(crf_folder), "--only", "crf-pac-32-is-faster-than-full")
    assert "| PAC-CRF 32 is faster than Full-CRF | holds" in call(*some, exit_code=0)
    assert call(*some, "--format", "csv", exit_code=0).startswith("id,claim,source,stated,paper")
    assert r"\toprule" in call(*some, "--format", "latex", exit_code=0)
    whole = call(str(crf_folder), "--format", "json", exit_code=3)
    assert len(json.loads(whole)) == len(CLAIMS)
    with pytest.raises(UserError, match="no claim is called so"):
        CliRunner().invoke(app, ["claims", str(crf_folder), "--only", "x"], catch_exceptions=False)


def test_a_folder_of_runs_stands_for_all_of_them(crf_folder: Path) -> None:
    root = crf_folder.parent
    write_run(depth_results(), root)
    (root / "claims").mkdir()
    (root / "standard.yaml").write_text("crf: []\n")
    lines = call(str(root), "--only", "*-beats-djf", "--only", "crf-*", exit_code=3).splitlines()
    tested = [line.split(": ")[1] for line in lines if line.startswith("- tested on")]
    assert sorted(tested) == ["crf", "depth"]


@pytest.mark.parametrize("name", ["claims", "standard.yaml", "nothing", "x" * 5000])
def test_what_is_no_run_and_holds_none_is_told(crf_folder: Path, name: str) -> None:
    root = crf_folder.parent
    (root / "claims").mkdir()
    (root / "standard.yaml").write_text("crf: []\n")
    with pytest.raises(UserError, match=r"is not a run folder|cannot be read"):
        CliRunner().invoke(app, ["claims", str(root / name)], catch_exceptions=False)
