"""The report in a real browser: no error, no request, sorting, filter, zoom and slider work."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_results import cell, crf_results, depth_results, failed, write_pictures, write_run
from typer.testing import CliRunner

from pacbench.cli import app

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (Debian: chromium)")


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of two runs with pictures, one cell of them failed."""
    root = tmp_path_factory.mktemp("runs")
    crf = crf_results()
    broken = failed(cell("bcl_crf", label="BCL-CRF <i>"), "out_of_memory", "8 GB & more")
    folders = []
    for made in (replace(crf, records=[*crf.records, broken]), depth_results()):
        folder = write_run(made, root)
        write_pictures(made, folder)
        folders.append(str(folder))
    output = root / "report.html"
    done = CliRunner().invoke(app, ["report", *folders, "-o", str(output), "--title", "A <test>"])
    assert done.exit_code == 0, done.output
    return output


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Any, page_file: Path) -> Iterator[Any]:
    """The report, opened; fails where it logged an error or asked for anything."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    address = page_file.as_uri()
    opened.on(
        "request",
        lambda request: (
            request.url == address
            or request.url.startswith("data:")
            or complaints.append(request.url)
        ),
    )
    opened.goto(address)
    yield opened
    context.close()
    assert complaints == []


def column(page: Any, table: str, index: int) -> list[str]:
    texts = page.locator(f"#{table} tbody tr:visible td:nth-child({index})").all_inner_texts()
    return [str(text).split("\n")[0].strip() for text in texts]


@needs_chromium
def test_it_shows_everything(page: Any) -> None:
    assert page.title() == "A <test>"
    sections = page.locator("main > section").evaluate_all("all => all.map(each => each.id)")
    assert sections == [
        "summary", "suite-crf", "suite-depth", "claims", "failed", "repeat", "environment",
    ]  # fmt: skip
    assert "out_of_memory" in page.inner_text("#failed")
    assert "BCL-CRF <i>: 8 GB & more" in page.inner_text("#failed")
    assert "<b>the end</b>" in page.inner_text("#failed pre")
    commands = page.locator("#repeat code").all_inner_texts()
    assert len(commands) == 17
    assert all(re.fullmatch(r"pacbench run crf --filter cell=\w{12}", text) for text in commands)
    assert page.locator("figure img").count() == 9
    loaded = "all => all.every(image => image.complete && image.naturalWidth > 0)"
    assert page.locator("img[src]").evaluate_all(loaded)


@needs_chromium
def test_tables_sort_and_filter(page: Any) -> None:
    table = "suite-crf-table"
    runtime = page.locator(f"#{table} th", has_text="runtime, ms").first
    runtime.get_by_role("button").click()
    names = column(page, table, 1)
    assert [name.split(" [")[0] for name in names[:3]] == [
        "PAC-CRF, 32", "PAC-CRF, 16-64", "Full-CRF",
    ]  # fmt: skip
    assert runtime.get_attribute("aria-sort") == "ascending"
    runtime.get_by_role("button").press("Enter")  # from the keyboard, and the other way
    assert column(page, table, 1)[0].startswith("Full-CRF")
    assert runtime.get_attribute("aria-sort") == "descending"
    page.fill(f"#{table}-filter", "pac 16")
    assert len(column(page, table, 1)) == 1
    assert page.locator(f"[data-filters={table}] + output").inner_text() == "1 of 5 rows"
    page.fill(f"#{table}-filter", "")
    assert len(column(page, table, 1)) == 5


@needs_chromium
def test_figures_enlarge(page: Any) -> None:
    page.locator("figure button").first.click()
    assert page.locator("dialog#zoom").is_visible()
    picture = page.locator("#zoom img")
    before = picture.bounding_box()["width"]
    page.keyboard.press("+")
    assert picture.bounding_box()["width"] == pytest.approx(1.5 * before, rel=0.01)
    page.keyboard.press("Escape")
    assert not page.locator("dialog#zoom").is_visible()


@needs_chromium
def test_the_slider_shows_one_picture_or_the_other(page: Any) -> None:
    compare = page.locator(".compare").first
    slider, over = compare.locator("input[type=range]"), compare.locator(".over")
    share = "each => getComputedStyle(each).clipPath"
    assert over.evaluate(share) == "inset(0px 0px 0px 50%)"
    slider.focus()
    slider.press("Home")
    assert over.evaluate(share) in ("inset(0px)", "inset(0px 0px 0px 0%)")
    slider.press("ArrowRight")
    assert over.evaluate(share) == "inset(0px 0px 0px 1%)"
    before = over.get_attribute("src")
    compare.locator("select").nth(1).select_option(label="image")
    assert over.get_attribute("src") != before
    stage = compare.locator(".stage")
    box = stage.bounding_box()
    stage.click(position={"x": 0.75 * box["width"], "y": box["height"] / 2})  # scrolls to it first
    assert float(slider.input_value()) == pytest.approx(75, abs=1)


@needs_chromium
def test_light_and_dark(browser: Any, page_file: Path) -> None:
    for scheme, expected in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(13, 17, 23)")):
        opened = browser.new_page(color_scheme=scheme)
        opened.goto(page_file.as_uri())
        colour = "getComputedStyle(document.body).backgroundColor"
        assert opened.evaluate(colour) == expected
        opened.locator("#theme").click()
        assert opened.evaluate(colour) != expected
        opened.close()


@needs_chromium
def test_a_phone_scrolls_down_and_not_sideways(browser: Any, page_file: Path) -> None:
    opened = browser.new_page(viewport={"width": 360, "height": 740})
    opened.goto(page_file.as_uri())
    assert opened.evaluate("document.documentElement.scrollWidth") <= 360
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.className") == "skip"
    opened.close()


def test_it_is_small_and_complete(page_file: Path) -> None:
    text = page_file.read_text(encoding="utf-8")
    assert len(text.encode()) < 10e6
    assert "default-src 'none'" in text
    assert not re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', text)
    assert "A &lt;test&gt;" in text


def test_one_that_cannot_be_written_is_said(page_file: Path) -> None:
    run = next(page_file.parent.glob("crf-*"))
    done = CliRunner().invoke(app, ["report", str(run), "-o", "/dev/null/report.html"])
    assert "cannot be written" in str(done.exception)
