"""Reports of the standard suites: small files that fit every screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from browsing import Pages
from results_tool import load_tool
from standard_runs import made_run

from pacbench.report.html import report_page
from pacbench.report.run import Results, read
from pacbench.store import RunFolder

ROOT = Path(__file__).parents[3]
MOST = 10e6
"""Bytes."""


@pytest.mark.parametrize("width", [375, 1280])
def test_everything_is_within_reach(pages: Pages, committed_report: Path, width: int) -> None:
    page = pages.open(committed_report, size=(width, 740))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    theme = page.locator("#theme").bounding_box()
    assert theme["x"] + theme["width"] <= width
    assert page.locator("#repeat").bounding_box()["height"] < 1000
    for command in page.locator("#repeat details").all():
        command.locator("summary").click()
        one = command.locator("li pre").first.bounding_box()
        assert one["height"] < 60  # a line, which scrolls
    layers = page.locator("#suite-upsample_arch-table td.long").first
    assert layers.bounding_box()["width"] > 180


def test_committed_results_give_a_small_page(committed_report: Path) -> None:
    assert committed_report.stat().st_size < MOST


def test_so_do_all_standard_suites_with_their_pictures(tmp_path: Path) -> None:
    """Committed results come without pictures; suites that keep some are made anew, with them."""
    runs = [
        run
        for name, overrides in load_tool().standard_suites().items()
        if (run := _made_or_committed(name, overrides, tmp_path / name))
    ]
    text = report_page(runs, [], "Standard suites")
    assert text.count('class="compare"') > 10
    assert len(text.encode()) < MOST


def _made_or_committed(name: str, overrides: list[str], folder: Path) -> Results | None:
    committed = ROOT / "results" / name
    made = made_run(ROOT / "suites" / f"{name}.yaml", overrides, folder)
    if made is None and (committed / "records.jsonl").is_file():
        return read(RunFolder(committed))
    return made
