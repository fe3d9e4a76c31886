"""Tables: what they show, and the formats that they are written in."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from pathlib import Path

import pytest

from pacbench.report.table import Column, Entry, Table, comma_separated, latex, markdown

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
        [Entry("PAC_CRF [1]", "PAC_CRF"), Entry("−1.50", -1.5), Entry("3 ± 1", 3), Entry("–")],
        [Entry("a|b ~^\\", "a|b"), Entry("2.25", 2.25), Entry("10", 10.0), Entry("θα ≤ 2", 2)],
    ],
    notes=["[1] 50 % #1 {x} $y$"],
)


def test_markdown() -> None:
    assert markdown(TABLE).splitlines() == [
        "**100 % of A & B**",
        "",
        "| method      | measured: mIoU, % | measured: runtime, ms | paper: mIoU |",
        "| ----------- | ----------------: | --------------------: | ----------: |",
        "| PAC_CRF [1] |             −1.50 |                 3 ± 1 |           – |",
        "| a\\|b ~^\\    |              2.25 |                    10 |      θα ≤ 2 |",
        "",
        "- [1] 50 % #1 {x} $y$",
    ]


def test_csv_holds_the_values() -> None:
    rows = list(csv.reader(io.StringIO(comma_separated(TABLE))))
    assert rows[0] == ["method", "measured mIoU, %", "measured runtime, ms", "paper mIoU"]
    assert rows[1] == ["PAC_CRF", "-1.5", "3", ""]


def test_latex_groups_columns() -> None:
    text = latex(TABLE)
    assert (
        r"\multicolumn{1}{c}{} & \multicolumn{2}{c}{measured} & \multicolumn{1}{c}{paper}" in text
    )
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-4}" in text
    assert r"\label{tab:pacbench-example}" in text


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex (Debian: texlive)")
def test_latex_compiles(tmp_path: Path) -> None:
    document = (
        r"\documentclass{article}\usepackage{booktabs}\begin{document}"
        f"\n{latex(TABLE)}\n"
        r"\end{document}"
    )
    (tmp_path / "table.tex").write_text(document, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert (tmp_path / "table.pdf").stat().st_size > 1000
