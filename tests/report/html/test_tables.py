"""Tables of the report: sorting, filters, and scrolling sideways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from browsing import Pages

from pacbench.report.html.tables import view
from pacbench.report.table import NOTHING, Column, Entry, Table


def column(page: Any, table: str, index: int) -> list[str]:
    texts = page.locator(f"#{table} tbody tr:visible > :nth-child({index})").all_inner_texts()
    return [str(text).split("\n")[0].strip() for text in texts]


def heading(page: Any, table: str, title: str) -> Any:
    return page.locator(f"#{table} th", has_text=title).first


def test_tables_sort_and_filter(page: Any) -> None:
    table = "suite-crf-table"
    runtime = heading(page, table, "runtime, ms")
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


def test_what_failed_stays_last(page: Any) -> None:
    button = heading(page, "suite-crf-table", "mIoU").get_by_role("button")
    for first in ("50.59", "54.81"):
        button.click()
        scores = column(page, "suite-crf-table", 2)
        assert scores[0].startswith(first)
        assert scores[-1].startswith("failed")


def test_claims_sort_by_what_is_read(page: Any) -> None:
    heading(page, "claims-table", "claim").get_by_role("button").click()
    claims = column(page, "claims-table", 1)
    assert len(claims) > 10
    assert claims == sorted(claims, key=str.lower)


def test_a_column_of_several_values_says_by_which_it_sorts(page: Any) -> None:
    button = heading(page, "suite-depth-table", "runtime, ms").get_by_role("button")
    assert button.get_attribute("title") == "sorts by the first of its values"
    score = heading(page, "suite-depth-table", "RMSE").get_by_role("button")
    assert score.get_attribute("title") is None


def test_a_wide_table_scrolls_in_its_box_and_says_so(pages: Pages, made_report: Path) -> None:
    page = pages.open(made_report, size=(375, 740))
    table = page.locator("#suite-depth-table")
    name, score = (table.locator(f"tbody tr:first-child > :nth-child({n})") for n in (1, 2))
    before = name.bounding_box()["x"], score.bounding_box()["x"]
    assert goes_on(page, "right")
    table.evaluate("e => { e.parentElement.scrollLeft = 100; }")
    assert goes_on(page, "left right")
    assert name.bounding_box()["x"] == before[0]
    assert score.bounding_box()["x"] == before[1] - 100
    table.evaluate("e => { e.parentElement.scrollLeft = e.scrollWidth; }")
    assert goes_on(page, "left")


def goes_on(page: Any, where: str) -> Any:
    """Whether the box of the table comes to tell that."""
    return page.wait_for_selector(f".box[data-more='{where}'] #suite-depth-table")


def test_long_text_gets_room(page: Any) -> None:
    effects = page.locator("#claims-table tbody tr:first-child > :nth-child(3)")
    assert "long" in effects.get_attribute("class")
    assert effects.bounding_box()["width"] >= 240


def test_columns_sort_as_numbers_where_they_have_any() -> None:
    rows = [
        [Entry("b", "b"), Entry("failed", "timeout"), Entry("2 / 1", 2.0)],
        [Entry("a", "a"), Entry("3 ± 1", 3.0, 2.0, 4.0), Entry("10 / 1", 10.0)],
        [Entry("c", "c"), NOTHING, Entry("nan", float("nan"))],
    ]
    columns = [Column("method", align="l"), Column("score"), Column("runtime (4× / 8×)")]
    shown = view(Table("made", "Made", columns, rows))
    keys = [[cell.key for cell in row] for row in shown.rows]
    assert keys == [["b", None, "2.0"], ["a", "3.0", "10.0"], ["c", None, None]]
    assert [column.numbers for column in shown.columns] == [False, True, True]
    assert [bool(column.hint) for column in shown.columns] == [False, False, True]
    assert shown.groups == []


def test_the_first_column_is_no_group_s() -> None:
    columns = [Column("method"), Column("steps"), Column("mIoU", "measured"), Column("a", "paper")]
    assert view(Table("made", "Made", columns, [])).groups == [
        ("", 1), ("", 1), ("measured", 1), ("paper", 1),
    ]  # fmt: skip
