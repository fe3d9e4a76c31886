"""LaTeX tables set by a real TeX."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

needs_latex = pytest.mark.skipif(
    not shutil.which("pdflatex"), reason="needs pdflatex (Debian: texlive)"
)

ON_THE_PAGE = 345 + 2 * 67
"""Points: article's column, and half of each of its margins."""

_TABULAR = re.compile(r"\\begin{tabular}.*?\\end{tabular}", re.DOTALL)


def typeset(texts: Sequence[str], folder: Path) -> str:
    """Set the texts, each on pages of its own, with booktabs only; what TeX said."""
    body = "\n".join(rf"{text}\clearpage" for text in texts)
    document = rf"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{body}"
    (folder / "tables.tex").write_text(document + r"\end{document}", encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


def widths(texts: Sequence[str], folder: Path) -> list[float]:
    """Points of every tabular in the texts, as a table of ours sets them."""
    tabulars = [tabular for text in texts for tabular in _TABULAR.findall(text)]
    setting = r"\scriptsize\setlength{\tabcolsep}{3pt}"
    asked = [rf"\sbox0{{{setting}{each}}}\typeout{{width: \the\wd0}}" for each in tabulars]
    said = typeset(asked, folder)
    return [float(width) for width in re.findall(r"width: ([\d.]+)pt", said)]


def assert_on_the_page(texts: Sequence[str], folder: Path) -> None:
    """No tabular is wider, and no table taller, than the page has room for."""
    said = typeset(texts, folder)
    assert "Float too large" not in said
    found = widths(texts, folder)
    assert len(found) >= len(texts)
    assert max(found) < ON_THE_PAGE
