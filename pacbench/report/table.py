"""A table as data, and the formats that it is written in."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal


@dataclass(frozen=True)
class Column:
    """A column; those that share a ``group`` ("measured", "paper") stand under one heading."""

    title: str
    group: str = ""
    align: Literal["l", "r"] = "r"


@dataclass(frozen=True)
class Entry:
    """What a cell of a table shows, and the value behind it for those who compute with it."""

    text: str
    value: float | str | None = None


@dataclass(frozen=True)
class Table:
    """Rows under columns, with a caption and what a reader must know (``notes``)."""

    name: str
    caption: str
    columns: list[Column]
    rows: list[list[Entry]]
    notes: list[str] = field(default_factory=list)


def markdown(table: Table) -> str:
    """GitHub's markdown, padded so that it reads as plain text as well."""
    titles = [f"{c.group}: {c.title}" if c.group else c.title for c in table.columns]
    cells = [[entry.text.replace("|", "\\|") for entry in row] for row in table.rows]
    widths = [max(3, *(len(row[i]) for row in [titles, *cells])) for i in range(len(titles))]

    def line(row: list[str]) -> str:
        padded = (
            text.ljust(width) if column.align == "l" else text.rjust(width)
            for text, width, column in zip(row, widths, table.columns, strict=True)
        )
        return "| " + " | ".join(padded) + " |"

    rule = [
        "-" * width if column.align == "l" else "-" * (width - 1) + ":"
        for width, column in zip(widths, table.columns, strict=True)
    ]
    lines = [line(titles), line(rule), *(line(row) for row in cells)]
    notes = [f"- {note}" for note in table.notes]
    return "\n".join([f"**{table.caption}**", "", *lines, "", *notes]).rstrip() + "\n"


def latex(table: Table) -> str:
    """A table environment that needs the booktabs package only."""
    head = []
    if any(column.group for column in table.columns):
        head = _latex_groups(table.columns)
    titles = " & ".join(_escape(column.title) for column in table.columns) + r" \\"
    rows = [" & ".join(_escape(entry.text) for entry in row) + r" \\" for row in table.rows]
    notes = [_escape(note) + r"\par" for note in table.notes]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_escape(table.caption)}}}",
            rf"\label{{tab:pacbench-{table.name}}}",
            rf"\begin{{tabular}}{{{''.join(column.align for column in table.columns)}}}",
            r"\toprule",
            *head,
            titles,
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            r"\par\smallskip",
            r"\begin{minipage}{\linewidth}\footnotesize",
            *notes,
            r"\end{minipage}",
            r"\end{table}",
            "",
        ]
    )


def comma_separated(table: Table) -> str:
    """The values at full precision, one row a line, for other programs."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(f"{c.group} {c.title}".strip() for c in table.columns)
    for row in table.rows:
        writer.writerow("" if entry.value is None else entry.value for entry in row)
    return buffer.getvalue()


RENDERERS: dict[str, tuple[str, Callable[[Table], str]]] = {
    "md": (".md", markdown),
    "latex": (".tex", latex),
    "csv": (".csv", comma_separated),
}

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "×": r"$\times$",
    "±": r"$\pm$",
    "≥": r"$\ge$",
    "≤": r"$\le$",
    "−": "$-$",
    "–": "--",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "θ": r"$\theta$",
    "σ": r"$\sigma$",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def _escape(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _latex_groups(columns: list[Column]) -> list[str]:
    cells, rules, position = [], [], 1
    for group, members in groupby(columns, key=lambda column: column.group):
        width = len(list(members))
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{_escape(group)}}}")
        if group:
            rules.append(rf"\cmidrule(lr){{{position}-{position + width - 1}}}")
        position += width
    return [" & ".join(cells) + r" \\", " ".join(rules)]
