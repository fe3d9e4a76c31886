"""A table in LaTeX that needs the booktabs package only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from pacbench.report.latex_layout import SPACE, Panel, pages_of, panels_of, split_title
from pacbench.report.table import Column, Entry, Table

ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "×": r"$\times$",
    "±": r"$\pm$",
    "≥": r"$\ge$",
    "≤": r"$\le$",
    "<": "$<$",
    ">": "$>$",
    "→": r"$\rightarrow$",
    "−": "$-$",
    "–": "--",
    "…": r"\dots{}",
    "†": r"\dag{}",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "θ": r"$\theta$",
    "λ": r"$\lambda$",
    "σ": r"$\sigma$",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def latex(table: Table) -> str:
    """One table environment, or several where one does not fit a page."""
    panels = list(panels_of(table))
    parts = list(pages_of(table, panels))
    return "".join(
        _environment(part, panels, number, len(parts)) for number, part in enumerate(parts)
    )


def escaped(text: str) -> str:
    return "".join(ESCAPES.get(character, character) for character in text)


def _environment(table: Table, panels: Sequence[Panel], number: int, parts: int) -> str:
    caption = table.whole_caption if number == 0 else f"{table.caption} (continued)."
    label = [rf"\label{{tab:pacbench-{table.name}}}"] if number == 0 else []
    tabulars = r"\par\medskip ".join(_tabular(table, panel) for panel in panels)
    notes = [escaped(note) + r"\par" for note in table.notes] if number == parts - 1 else []
    beneath = [r"\begin{minipage}{\linewidth}\scriptsize", *notes, r"\end{minipage}"]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering\scriptsize\setlength{\tabcolsep}{3pt}",
            rf"\caption{{{escaped(caption)}}}",
            *label,
            r"\par\medskip",
            tabulars,
            r"\par\smallskip",
            *(beneath if notes else []),
            r"\end{table}",
            "",
        ]
    )


def _tabular(table: Table, panel: Panel) -> str:
    columns = [table.columns[place] for place in panel.places]
    groups = _groups(columns) if any(column.group for column in columns) else []
    body = [
        _line(
            _entry(row[place], wrapped)
            for place, wrapped in zip(panel.places, panel.wrapped, strict=True)
        )
        for row in table.rows
    ]
    between = f"\n\\addlinespace[{SPACE:g}pt]\n" if any(panel.wrapped) else "\n"
    kinds = [
        f"p{{{width:.0f}pt}}" if wrapped else column.align
        for column, width, wrapped in zip(columns, panel.widths, panel.wrapped, strict=True)
    ]
    return "\n".join(
        [
            r"\makebox[\linewidth]{%",  # a wide table reaches into both margins alike
            rf"\begin{{tabular}}{{{''.join(kinds)}}}",
            r"\toprule",
            *groups,
            *_titles(columns),
            r"\midrule",
            between.join(body),
            r"\bottomrule",
            r"\end{tabular}}",
        ]
    )


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \tabularnewline"


def _entry(entry: Entry, wrapped: bool) -> str:
    command = {1: r"\textbf", 2: r"\underline"}.get(entry.rank)
    text = escaped(entry.text)
    shown = (rf"{command}{{{text}}}" if command else text) + escaped(entry.mark)
    return rf"\raggedright {shown}" if wrapped else shown


def _titles(columns: Sequence[Column]) -> list[str]:
    names, units = zip(*(split_title(column.title) for column in columns), strict=True)
    lines = [names, units] if any(units) else [names]
    return [_line([escaped(text) for text in line]) for line in lines]


def _groups(columns: Sequence[Column]) -> list[str]:
    cells, rules, position = [], [], 1
    for group, members in groupby(columns, key=lambda column: column.group):
        width = len(list(members))
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{escaped(group)}}}")
        if group:
            rules.append(rf"\cmidrule(lr){{{position}-{position + width - 1}}}")
        position += width
    return [_line(cells), " ".join(rules)]
