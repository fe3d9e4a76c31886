"""The formats that a table is written in."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable
from typing import Any

from pacbench.report.latex import latex
from pacbench.report.table import Column, Entry, Table


def markdown(table: Table) -> str:
    """GitHub's markdown, padded so that it reads as plain text as well."""
    titles = [_markdown_title(column) for column in table.columns]
    cells = [[_markdown_entry(entry) for entry in row] for row in table.rows]
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
    notes = [f"- {note}" for note in [*table.conditions, *table.notes]]
    return "\n".join([f"**{table.caption}**", "", *lines, "", *notes]).rstrip() + "\n"


def _markdown_title(column: Column) -> str:
    """The group goes before the title; what was measured, the most of a table, needs no word."""
    unnamed = column.group in ("", "measured")
    return column.title if unnamed else f"{column.group}: {column.title}"


def _markdown_entry(entry: Entry) -> str:
    text = entry.text.replace("|", "\\|")
    text = {1: f"**{text}**", 2: f"<ins>{text}</ins>"}.get(entry.rank, text)
    return text + entry.mark


def comma_separated(table: Table) -> str:
    """The values at full precision, one row a line, for other programs.

    A column of which some value has an interval is followed by its two bounds.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    bounded = [any(row[i].low is not None for row in table.rows) for i in range(len(table.columns))]
    header: list[str] = []
    for column, has_bounds in zip(table.columns, bounded, strict=True):
        title = f"{column.group} {column.title}".strip()
        header += [title, f"{title} low", f"{title} high"] if has_bounds else [title]
    writer.writerow(header)
    for row in table.rows:
        values: list[Any] = []
        for entry, has_bounds in zip(row, bounded, strict=True):
            values += [entry.value, entry.low, entry.high] if has_bounds else [entry.value]
        writer.writerow("" if value is None else value for value in values)
    return buffer.getvalue()


def json_text(table: Table) -> str:
    """The values with their intervals by column, and all that stands around them."""
    titles = [f"{column.group} {column.title}".strip() for column in table.columns]
    content = {
        "name": table.name,
        "caption": table.caption,
        "conditions": table.conditions,
        "notes": table.notes,
        "rows": [
            {title: _json_entry(entry) for title, entry in zip(titles, row, strict=True)}
            for row in table.rows
        ],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _json_entry(entry: Entry) -> Any:
    if entry.low is None or entry.high is None:
        return entry.value
    bounds = [bound if math.isfinite(bound) else None for bound in (entry.low, entry.high)]
    return {"value": entry.value, "low": bounds[0], "high": bounds[1]}


RENDERERS: dict[str, tuple[str, Callable[[Table], str]]] = {
    "md": (".md", markdown),
    "latex": (".tex", latex),
    "csv": (".csv", comma_separated),
    "json": (".json", json_text),
}

FOR_PROGRAMS = ("csv", "json")
"""Formats that get a row per cell with all that is known, however the table is laid out."""
