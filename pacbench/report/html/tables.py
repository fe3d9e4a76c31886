"""Tables as the template shows them: what each column sorts by, and how wide its text is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from pacbench.claims.report import EXIT_CODES
from pacbench.report.table import Column, Entry, Table

LONG = 40
"""Letters from which on a text gets a column that is wide enough to read it in."""

SEVERAL = " / "
"""Between the values that share a cell."""


@dataclass(frozen=True)
class ColumnView:
    """A column.

    Attributes:
        kind: its classes: the side that it stands at, and whether it holds long text.
        numbers: whether it sorts by numbers; what is none, as ``failed``, then stays last.
        hint: what a reader must know who sorts by it.
    """

    title: str
    kind: str
    numbers: bool
    hint: str


@dataclass(frozen=True)
class CellView:
    """An entry.

    Attributes:
        key: what it sorts by; None stays last.
        verdict: the class of a verdict on a claim, else empty.
    """

    entry: Entry
    key: str | None
    verdict: str


@dataclass(frozen=True)
class TableView:
    """A table; the first cell of each row names it.

    Attributes:
        groups: headings above the columns, with how many columns each has; may be none.
    """

    caption: str
    columns: list[ColumnView]
    groups: list[tuple[str, int]]
    rows: list[list[CellView]]
    notes: list[str]


def view(table: Table) -> TableView:
    columns = [
        _column(column, [row[index] for row in table.rows])
        for index, column in enumerate(table.columns)
    ]
    rows = [
        [_cell(entry, column) for entry, column in zip(row, columns, strict=True)]
        for row in table.rows
    ]
    notes = [*table.conditions, *table.notes]
    return TableView(table.caption, columns, _groups(table.columns), rows, notes)


def _column(column: Column, entries: Sequence[Entry]) -> ColumnView:
    numbers = [entry for entry in entries if _is_number(entry)]
    several = any(SEVERAL in entry.text for entry in numbers)
    long = any(len(entry.text) > LONG for entry in entries)
    return ColumnView(
        title=column.title,
        kind=f"{column.align} long" if long else column.align,
        numbers=bool(numbers),
        hint="sorts by the first of its values" if several else "",
    )


def _cell(entry: Entry, column: ColumnView) -> CellView:
    key = None
    if column.numbers:
        key = str(entry.value) if _is_number(entry) else None
    elif entry.value is not None:
        key = entry.text
    verdict = str(entry.value).replace(" ", "-") if entry.value in EXIT_CODES else ""
    return CellView(entry, key, verdict)


def _is_number(entry: Entry) -> bool:
    return isinstance(entry.value, (int, float)) and math.isfinite(entry.value)


def _groups(columns: Sequence[Column]) -> list[tuple[str, int]]:
    """The first column stays by itself, for it stands still while the others scroll."""
    if not any(column.group for column in columns):
        return []
    others = groupby(columns[1:], key=lambda column: column.group)
    return [("", 1), *((group, len(list(members))) for group, members in others)]
