"""Committed tables are what their committed records generate, and README shows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pacbench.report.run import read, table_of
from pacbench.report.table import RENDERERS
from pacbench.store import RunFolder

ROOT = Path(__file__).parents[1]
RESULTS = sorted(path.parent for path in (ROOT / "results").glob("*/records.jsonl"))


def test_there_are_results() -> None:
    assert [folder.name for folder in RESULTS] == ["crf"]


@pytest.mark.parametrize("folder", RESULTS, ids=lambda folder: folder.name)
def test_tables_are_generated_from_the_records(folder: Path) -> None:
    results = read(RunFolder(folder))
    assert results.warnings == []
    table = table_of(results)
    for suffix, render in RENDERERS.values():
        committed = (folder / "tables" / f"{table.name}{suffix}").read_text(encoding="utf-8")
        assert committed == render(table), "make it anew with `make results`"
    assert (folder / "tables" / f"{table.name}.md").read_text() in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("folder", RESULTS, ids=lambda folder: folder.name)
def test_results_are_of_the_suite_as_it_is_and_of_a_commit(folder: Path) -> None:
    assert (folder / "suite.yaml").read_text() == (
        ROOT / "suites" / f"{folder.name}.yaml"
    ).read_text()
    assert RunFolder(folder).environment().dirty is False
