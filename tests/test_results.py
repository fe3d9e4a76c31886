"""Committed tables and claims are what their committed records generate, and README shows them."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from results_tool import load_tool
from typesetting import assert_on_the_page, needs_latex

from pacbench.claims.programs import as_json
from pacbench.claims.report import claims_table
from pacbench.report.build import table_of
from pacbench.report.formats import RENDERERS, latex, markdown
from pacbench.report.run import Results, read
from pacbench.report.write import rendered
from pacbench.store import RunFolder
from pacbench.suite.load import load_suite

ROOT = Path(__file__).parents[1]
FOLDERS = sorted(path.parent for path in (ROOT / "results").glob("*/records.jsonl"))
AGAIN = "make it anew with `make results`, or `python tools/results.py --tables-only`"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return load_tool()


@pytest.fixture(scope="module")
def runs(tool: ModuleType) -> list[Results]:
    return [read(RunFolder(folder)) for folder in tool.committed()]


def test_results_are_of_standard_suites(tool: ModuleType) -> None:
    assert FOLDERS
    assert {folder.name for folder in FOLDERS} == set(tool.standard_suites())


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_tables_are_generated_from_the_records(folder: Path, tool: ModuleType) -> None:
    results = read(RunFolder(folder))
    assert results.warnings == []
    assert all(record.ok for record in results.records)
    for format_, (suffix, _) in RENDERERS.items():
        path = folder / "tables" / f"{folder.name}{suffix}"
        assert path.read_text(encoding="utf-8") == rendered(results, format_), AGAIN
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    if f"<!-- results/{folder.name} begin -->" in readme:
        path = f"results/{folder.name}/tables/{folder.name}.md"
        assert tool.readme_part(table_of(results), path) in readme, AGAIN


def test_claims_are_generated_from_the_records(tool: ModuleType, runs: list[Results]) -> None:
    decisions = tool.decisions_on(runs)
    folder = ROOT / "results" / "claims"
    assert (folder / "claims.json").read_text(encoding="utf-8") == as_json(decisions), AGAIN
    table = claims_table(decisions)
    assert (folder / "claims.md").read_text(encoding="utf-8") == markdown(table), AGAIN
    assert tool.claims_part(decisions) in (ROOT / "README.md").read_text(encoding="utf-8"), AGAIN


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_results_are_of_the_suite_as_it_is_and_of_a_commit(
    folder: Path, tool: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    overrides = tool.standard_suites()[folder.name]
    suite = load_suite(f"suites/{folder.name}.yaml", overrides).text
    assert (folder / "suite.yaml").read_text(encoding="utf-8") == suite
    assert RunFolder(folder).environment().dirty is False


@needs_latex
def test_latex_of_results_stays_on_the_page(tmp_path: Path) -> None:
    tables = sorted((ROOT / "results").glob("*/tables/*.tex"))
    assert_on_the_page([path.read_text(encoding="utf-8") for path in tables], tmp_path)


@needs_latex
def test_latex_of_claims_stays_on_the_page(
    tool: ModuleType, runs: list[Results], tmp_path: Path
) -> None:
    assert_on_the_page([latex(claims_table(tool.decisions_on(runs)))], tmp_path)


def test_results_stay_small() -> None:
    made = {"runs", "training"}  # by who works here, and ignored by git
    files = (path for path in (ROOT / "results").rglob("*") if not made & {*path.parts})
    assert sum(path.stat().st_size for path in files if path.is_file()) < 6e6
