"""Reports in a real browser, which fail a test if they log an error or ask for anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browsing import CHROMIUM, Pages
from made_results import cell, crf_results, depth_results, failed, write_pictures, write_run
from typer.testing import CliRunner

from pacbench.cli import app

RESULTS = Path(__file__).parents[3] / "results"


@pytest.fixture(scope="session")
def made_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of two runs with pictures, one cell of them failed."""
    root = tmp_path_factory.mktemp("made")
    crf = crf_results()
    broken = failed(cell("bcl_crf", label="BCL-CRF <i>"), "out_of_memory", "8 GB & more")
    folders = []
    for made in (replace(crf, records=[*crf.records, broken]), depth_results()):
        folder = write_run(made, root)
        write_pictures(made, folder)
        folders.append(str(folder))
    return _report(root / "report.html", *folders, "--title", "A <test>")


@pytest.fixture(scope="session")
def committed_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of all committed results."""
    return _report(tmp_path_factory.mktemp("committed") / "report.html", str(RESULTS))


def _report(output: Path, *arguments: str) -> Path:
    done = CliRunner().invoke(app, ["report", *arguments, "-o", str(output)])
    assert done.exit_code == 0, done.output
    return output


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("needs Chromium (Debian: chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def pages(browser: Any) -> Iterator[Pages]:
    pages = Pages(browser)
    yield pages
    pages.close()
    assert pages.complaints == []


@pytest.fixture
def page(pages: Pages, made_report: Path) -> Any:
    """The made report on a desktop."""
    return pages.open(made_report)
