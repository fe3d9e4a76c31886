"""tools/results.py from a suite to README, on a suite that takes seconds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from results_tool import load_tool

SUITE = """
name: tiny
task: crf
paper_table: tab_crf
data: {name: scenes, limit: 2, params: {size: [24, 32]}}
methods:
  - {name: unary, paper_row: unary}
  - {name: pac_crf, paper_row: pac_crf_32, params: {dilations: [2]}}
repeats: 3
"""
README = "before\n<!-- results/tiny begin -->\nold\n<!-- results/tiny end -->\nafter\n"


def test_from_a_suite_to_the_readme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tool = load_tool()
    for name, path in {"ROOT": ".", "RESULTS": "results", "RUNS": "build/results"}.items():
        monkeypatch.setattr(tool, name, tmp_path / path)
    monkeypatch.chdir(tmp_path)
    for folder in ("suites", "results", "build"):
        (tmp_path / folder).mkdir()
    (tmp_path / "suites" / "tiny.yaml").write_text(SUITE)
    settings = "tiny: [timing.budget_seconds=0, timing.processes=1]\n"
    (tmp_path / "results" / "standard.yaml").write_text(settings)
    (tmp_path / "README.md").write_text(README)

    monkeypatch.setattr(sys, "argv", ["results.py"])
    assert tool.main() == 0
    kept = {str(p.relative_to(tmp_path / "results")) for p in tmp_path.glob("results/**/*.*")}
    assert kept >= {
        "claims/claims.json",
        "claims/claims.md",
        "tiny/environment.json",
        "tiny/figures/tiny-pictures.png",
        "tiny/figures/tiny-timings.png",
        "tiny/records.jsonl",
        "tiny/run.json",
        "tiny/suite.yaml",
        *(f"tiny/tables/tiny.{suffix}" for suffix in ("csv", "json", "md", "tex")),
    }
    readme = (tmp_path / "README.md").read_text()
    assert readme.startswith("before\n<!-- results/tiny begin -->\n**tiny**\n\n| method")
    assert "[results/tiny/tables/tiny.md](results/tiny/tables/tiny.md)" in readme
    assert readme.endswith("<!-- results/tiny end -->\nafter\n")
    assert (tmp_path / "build" / "report.html").stat().st_size > 10_000
    assert len(list((tmp_path / "build" / "results" / "tiny").iterdir())) == 1

    before = (tmp_path / "results" / "tiny" / "records.jsonl").read_bytes()
    assert tool.main() == 0  # a finished run of this commit is not measured again
    assert (tmp_path / "results" / "tiny" / "records.jsonl").read_bytes() == before

    monkeypatch.setattr(sys, "argv", ["results.py", "--tables-only", "tiny"])
    assert tool.main() == 0
    monkeypatch.setattr(sys, "argv", ["results.py", "other"])
    with pytest.raises(SystemExit):
        tool.main()
    assert "other: is not in results/standard.yaml" in capsys.readouterr().err
