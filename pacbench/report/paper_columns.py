"""The paper's figures as columns beside the measured ones, under the heading "paper"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pacbench.record import Record
from pacbench.report.columns import Shown, View
from pacbench.report.paper import CONDITIONS, PaperFigures, paper_figures
from pacbench.report.table import NOTHING, Better, Column, Entry

Printed = Callable[[PaperFigures], tuple[str | None, float | None]]
"""The text and the value of one kind of figure."""


def paper_columns(table: str | None, view: View) -> list[Shown]:
    """Those of one table of the paper in which any of the cells has a figure."""
    figures = [f for record in view.records if (f := paper_figures(table, record.cell))]
    val, test = (Column(title, "paper", better=_better(view)) for title in _titles(view, figures))
    shown = [
        _shown(table, val, lambda f: (f.score, f.value)),
        _shown(table, test, lambda f: (f.test_score, f.test_value)),
        _shown(table, Column("runtime, ms", "paper"), lambda f: _plain(f.runtime_ms)),
        _shown(table, Column("parameters, K", "paper"), lambda f: _plain(f.parameters_k)),
    ]
    note = f"paper: as it prints them, for {CONDITIONS.get(table or '', '')}"
    return [
        replace(each, note=note)
        for each in shown
        if any(each.entry(record, view) is not NOTHING for record in view.records)
    ]


def _titles(view: View, figures: list[PaperFigures]) -> tuple[str, str]:
    """Without a unit, for the paper prints none."""
    name = view.score.name if view.score else "score"
    if any(f.score and f.score.startswith("+") for f in figures):
        name = "mIoU or gain"
    has_both = any(f.test_score for f in figures)
    return f"{name} (val)" if has_both else name, f"{name} (test)"


def _better(view: View) -> Better | None:
    return view.score.better if view.score else None


def _plain(value: float | None) -> tuple[str | None, float | None]:
    return None if value is None else f"{value:g}", value


def _shown(table: str | None, column: Column, printed: Printed) -> Shown:
    def entry(record: Record, _: View) -> Entry:
        figures = paper_figures(table, record.cell)
        text, value = printed(figures) if figures else (None, None)
        if text is None:
            return NOTHING
        # the unaries' score is no gain, and so not to be ranked among gains
        return Entry(text, value, competes=record.cell.method != "unary")

    return Shown(column, entry)
