"""The formats of tables, read back by what reads them: markdown-it, csv, json and TeX."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from made_results import crf_results, depth_results, failed, results
from markdown_it import MarkdownIt
from typesetting import assert_on_the_page, needs_latex

from pacbench.report.build import data_of, table_of
from pacbench.report.formats import comma_separated, json_text, latex, markdown
from pacbench.report.table import Column, Entry, Table, ranked

TABLE = Table(
    name="example",
    caption="100 % of A & B",
    columns=[
        Column("method", align="l"),
        Column("mIoU, %", "measured"),
        Column("runtime, ms", "measured"),
        Column("mIoU", "paper"),
    ],
    rows=[
        [
            Entry("PAC_CRF", "PAC_CRF", mark=" [1]"),
            Entry("−1.50 ± 0.10", -1.5, -1.6, -1.4),
            Entry("3", 3, rank=1),
            Entry("–"),
        ],
        [Entry("a|b ~^\\", "a|b"), Entry("2.25", 2.25), Entry("10", 10.0, rank=2), Entry("θα ≤ 2")],
    ],
    notes=["[1] 50 % #1 {x} $y$"],
    conditions=["device: a_b"],
)


def test_markdown() -> None:
    assert markdown(TABLE).splitlines() == [
        "**100 % of A & B**",
        "",
        "| method      |      mIoU, % |   runtime, ms | paper: mIoU |",
        "| ----------- | -----------: | ------------: | ----------: |",
        "| PAC_CRF [1] | −1.50 ± 0.10 |         **3** |           – |",
        "| a\\|b ~^\\    |         2.25 | <ins>10</ins> |      θα ≤ 2 |",
        "",
        "- device: a_b",
        "- [1] 50 % #1 {x} $y$",
    ]


@pytest.mark.parametrize("made", [crf_results(), depth_results()], ids=["crf", "depth"])
def test_markdown_parses_as_one_table(made: object) -> None:
    table = table_of(made)  # type: ignore[arg-type]
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown(table))
    kinds = [token.type for token in tokens]
    assert kinds.count("table_open") == 1
    assert kinds.count("tr_open") == len(table.rows) + 1
    assert kinds.count("td_open") == len(table.rows) * len(table.columns)
    assert kinds.count("list_item_open") == len(table.conditions) + len(table.notes)


def test_csv_holds_the_values_and_their_bounds() -> None:
    rows = list(csv.reader(io.StringIO(comma_separated(TABLE))))
    miou = ["measured mIoU, %", "measured mIoU, % low", "measured mIoU, % high"]
    assert rows[0] == ["method", *miou, "measured runtime, ms", "paper mIoU"]
    assert rows[1] == ["PAC_CRF", "-1.5", "-1.6", "-1.4", "3", ""]
    assert rows[2] == ["a|b", "2.25", "", "", "10.0", ""]


def test_json_holds_the_values_and_their_bounds() -> None:
    read = json.loads(json_text(TABLE))
    assert read["rows"][0]["measured mIoU, %"] == {"value": -1.5, "low": -1.6, "high": -1.4}
    assert read["rows"][1]["measured runtime, ms"] == 10.0
    assert read["conditions"] == ["device: a_b"]


def test_latex_marks_the_best_and_groups_columns() -> None:
    text = latex(TABLE)
    groups = r"\multicolumn{1}{c}{} & \multicolumn{2}{c}{measured} & \multicolumn{1}{c}{paper}"
    assert groups in text
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-4}" in text
    assert r"\label{tab:pacbench-example}" in text
    assert r"\textbf{3}" in text
    assert r"\underline{10}" in text
    assert r"\caption{100 \% of A \& B. Device: a\_b.}" in text


@needs_latex
def test_latex_compiles_with_booktabs_only_and_stays_on_the_page(tmp_path: Path) -> None:
    made = crf_results()
    broken = results([*made.records, failed(made.records[1].cell.model_copy(update={"seed": 1}))])
    tables = [TABLE, *(table_of(run) for run in (made, depth_results(), broken)), data_of(made)]
    assert_on_the_page([latex(table) for table in tables], tmp_path)


LONG = Table(
    name="long",
    caption="Long texts",
    columns=[
        Column("claim", align="l", names_row=True),
        Column("verdict", align="l"),
        Column("effect", align="l"),
        Column("the paper", align="l"),
    ],
    rows=[
        [
            Entry("PAC is better than all of the others at each factor"),
            Entry("holds"),
            Entry("4×: −7.74 cm (−11.08 to −4.40); " * 4),
            Entry("RMSE 2.39 against 2.64 " * 3),
        ]
        for _ in range(40)
    ],
    notes=["a note of many words " * 20] * 4,
)
WIDE = Table(
    name="wide",
    caption="Many columns",
    columns=[
        Column("method", align="l", names_row=True),
        Column("size", names_row=True),
        *(Column(f"time {i}, ms", f"group {i // 6}") for i in range(18)),
    ],
    rows=[[Entry("PAC"), Entry("375×500"), *[Entry("1234.5 ± 12.5")] * 18]],
)


@needs_latex
def test_long_texts_wrap_and_many_rows_go_to_the_next_page(tmp_path: Path) -> None:
    text = latex(LONG)
    assert text.count(r"\begin{table}") > 2
    assert text.count(r"\begin{tabular}") == text.count(r"\begin{table}")
    assert text.count("PAC is better") == 40
    assert text.count("a note of many words a note") == 4 * 10
    assert text.count(r"\label") == 1
    assert text.count("(continued)") == text.count(r"\begin{table}") - 1
    assert_on_the_page([text], tmp_path)


@needs_latex
def test_many_columns_go_beneath_with_their_groups_and_the_names(tmp_path: Path) -> None:
    text = latex(WIDE)
    assert text.count(r"\begin{tabular}") == 3
    assert text.count("PAC & 375") == 3
    assert [text.count(f"{{group {i}}}") for i in range(3)] == [1, 1, 1]
    assert_on_the_page([text], tmp_path)
    one = replace(WIDE, columns=[replace(column, group="") for column in WIDE.columns])
    assert_on_the_page([latex(one)], tmp_path)


def test_latex_escapes_what_tex_would_read() -> None:
    row = next(line for line in latex(TABLE).splitlines() if line.startswith("a"))
    assert row.startswith(r"a\textbar{}b \textasciitilde{}\textasciicircum{}\textbackslash{} &")


def test_ranks_are_within_a_group_and_by_what_is_printed() -> None:
    columns = [Column("x", better="less")]
    rows = [[Entry(f"{value:.1f} ± 9", value)] for value in (1.04, 1.02, 2.0, 5.0, 3.0, 4.0)]
    marked = ranked(columns, rows, ["a", "a", "a", "b", "b", "b"])
    assert [row[0].rank for row in marked] == [1, 1, 2, 0, 1, 2]
    assert ranked([Column("x")], rows, [0] * 6) == rows
    apart = [[replace(rows[0][0], competes=False)], *rows[1:]]
    assert [row[0].rank for row in ranked(columns, apart, [0] * 6)] == [0, 1, 2, 0, 0, 0]
