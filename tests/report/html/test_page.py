"""What the report holds, and that all of it can be read without seeing, or without a mouse."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from browsing import Pages
from typer.testing import CliRunner

from pacbench.cli import app

CONTRAST = """
([text, behind]) => {
  const probe = document.createElement("i");
  document.body.append(probe);
  const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const light = (name) => {
    probe.style.color = `var(--${name})`;
    const parts = getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3);
    const [r, g, b] = parts.map((part) => part / 255).map(linear);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const [one, other] = [light(text), light(behind)];
  return Math.max(one / other, other / one);
}
"""


def test_it_shows_everything(page: Any) -> None:
    assert page.title() == "A <test>"
    sections = page.locator("main > section").evaluate_all("all => all.map(each => each.id)")
    assert sections == [
        "summary", "suite-crf", "suite-depth", "claims", "failed", "repeat", "environment",
    ]  # fmt: skip
    assert "out_of_memory" in page.inner_text("#failed")
    assert "BCL-CRF <i>: 8 GB & more" in page.inner_text("#failed")
    assert "<b>the end</b>" in page.inner_text("#failed pre")
    assert page.locator("figure img").count() == 9
    loaded = "all => all.every(image => image.complete && image.naturalWidth > 0)"
    assert page.locator("img[src]").evaluate_all(loaded)


def test_commands_are_folded_by_suite_and_found(page: Any) -> None:
    commands = page.locator("#repeat code")
    texts = commands.all_text_contents()
    assert len(texts) == 17
    assert all(re.fullmatch(r"pacbench run crf --filter cell=\w{12}", text) for text in texts)
    folds = page.locator("#repeat details")
    assert folds.locator("summary").all_inner_texts() == ["crf: 5 commands", "depth: 12 commands"]
    assert not commands.first.is_visible()
    page.fill("#commands-filter", "pac")
    assert page.locator("#commands-filter + output").inner_text() == "8 of 17 rows"
    page.fill("#commands-filter", "bicubic 16")
    found = page.locator("#repeat li:visible")
    assert found.locator("b").all_inner_texts() == ["BICUBIC (factor 16)"]
    found.get_by_role("button").click()
    found.get_by_text(re.compile("^(copied|selected)$")).wait_for()
    page.fill("#commands-filter", "")
    assert not commands.first.is_visible()


def test_those_who_do_not_see_it_are_told(page: Any) -> None:
    lacking = {
        "img": "e => e.closest('dialog') === null && !e.alt",
        "table": "e => !e.caption?.textContent",
        "th": "e => !e.scope",
        "input, select": "e => !e.labels.length && !e.getAttribute('aria-label')",
        "button, a": "e => !(e.textContent || e.getAttribute('aria-label'))",
    }
    for selector, test in lacking.items():
        assert page.locator(selector).count() > 0
        assert page.locator(selector).evaluate_all(f"all => all.filter({test}).length") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_stand_out(pages: Pages, made_report: Path, scheme: str) -> None:
    """By WCAG's AA: text 4.5 to 1, edges of what can be used 3 to 1."""
    page = pages.open(made_report, color_scheme=scheme)
    for behind in ("paper", "shade"):
        for text in ("ink", "soft", "link", "good", "bad", "open"):
            assert page.evaluate(CONTRAST, [text, behind]) >= 4.5, (text, behind)
        for edge in ("edge", "focus"):
            assert page.evaluate(CONTRAST, [edge, behind]) >= 3, (edge, behind)


def test_the_keyboard_reaches_it_and_shows_where_it_is(page: Any) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        tag, style = page.evaluate(
            """() => {
              const at = document.activeElement;
              const shown = at.matches(".scroll") ? at.parentElement : at;
              return [at.tagName, getComputedStyle(shown).outlineStyle];
            }"""
        )
        assert style != "none", tag
        reached.add(tag)
    assert reached >= {"A", "BUTTON", "INPUT", "SELECT", "DIV"}


def test_those_who_want_no_motion_get_none(pages: Pages, made_report: Path) -> None:
    behaviour = "getComputedStyle(document.documentElement).scrollBehavior"
    assert pages.open(made_report).evaluate(behaviour) == "smooth"
    assert pages.open(made_report, reduced_motion="reduce").evaluate(behaviour) == "auto"


def test_it_is_complete_in_itself(made_report: Path) -> None:
    text = made_report.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert not re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', text)
    assert "A &lt;test&gt;" in text


def test_one_that_cannot_be_written_is_said(made_report: Path) -> None:
    run = next(made_report.parent.glob("crf-*"))
    done = CliRunner().invoke(app, ["report", str(run), "-o", "/dev/null/report.html"])
    assert "cannot be written" in str(done.exception)
