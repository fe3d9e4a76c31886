"""Light and dark: by the reader's setting, by the button, on paper."""

from __future__ import annotations

from pathlib import Path

import pytest
from browsing import Pages

COLOUR = "getComputedStyle(document.body).backgroundColor"
LIGHT, DARK = "rgb(255, 255, 255)", "rgb(13, 17, 23)"
NO_STORE = """
const get = () => { throw new DOMException("no", "SecurityError"); };
Object.defineProperty(window, "localStorage", { get });
"""


@pytest.mark.parametrize(
    ("scheme", "shown", "other"), [("light", LIGHT, DARK), ("dark", DARK, LIGHT)]
)
def test_the_button_outlasts_the_page(
    pages: Pages, made_report: Path, scheme: str, shown: str, other: str
) -> None:
    page = pages.open(made_report, color_scheme=scheme)
    assert page.evaluate(COLOUR) == shown
    page.locator("#theme").click()
    assert page.evaluate(COLOUR) == other
    page.reload()
    assert page.evaluate(COLOUR) == other
    page.locator("#theme").click()
    page.reload()
    assert page.evaluate(COLOUR) == shown


def test_it_follows_the_reader_s_setting(pages: Pages, made_report: Path) -> None:
    page = pages.open(made_report, color_scheme="light")
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(COLOUR) == DARK


def test_where_nothing_can_be_kept_it_still_switches(pages: Pages, made_report: Path) -> None:
    page = pages.open(made_report, color_scheme="light", script=NO_STORE)
    page.locator("#theme").click()
    assert page.evaluate(COLOUR) == DARK
    page.reload()
    assert page.evaluate(COLOUR) == LIGHT


def test_paper_is_light(pages: Pages, made_report: Path) -> None:
    page = pages.open(made_report, color_scheme="dark")
    page.locator("#theme").click()
    page.locator("#theme").click()  # dark by the button too
    page.emulate_media(media="print")
    assert page.evaluate(COLOUR) == LIGHT
    assert not page.locator("nav").is_visible()
