"""A table as data: entries with their intervals, the best of a column marked."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

Better = Literal["more", "less"]


@dataclass(frozen=True)
class Column:
    """A column; those that share a ``group`` ("measured", "paper") stand under one heading.

    Attributes:
        better: which of its values is best; None where none is.
        names_row: whether it is part of what a row is called: a method, the value of an axis.
    """

    title: str
    group: str = ""
    align: Literal["l", "r"] = "r"
    better: Better | None = None
    names_row: bool = False


@dataclass(frozen=True)
class Entry:
    """What a cell of a table shows, and the value behind it for those who compute with it.

    Attributes:
        low, high: the 95 % interval of the value.
        mark: refers to a note.
        rank: 1 for the best of its column, 2 for the second, 0 for all others.
        competes: whether it is ranked with the others of its column.
    """

    text: str
    value: float | str | None = None
    low: float | None = None
    high: float | None = None
    mark: str = ""
    rank: int = 0
    competes: bool = True


NOTHING = Entry("–")


@dataclass(frozen=True)
class Table:
    """Rows under columns, and what a reader must know.

    Attributes:
        name: of the file and of the LaTeX label.
        caption: what the table shows, in a sentence.
        conditions: the rest of its caption: data, protocol, device and backend.
        notes: what stands beneath: footnotes, and how to read the figures.
    """

    name: str
    caption: str
    columns: list[Column]
    rows: list[list[Entry]]
    notes: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)

    @property
    def whole_caption(self) -> str:
        return ". ".join([self.caption, *(c[0].upper() + c[1:] for c in self.conditions)]) + "."


class Notes:
    """Footnotes: the same text gets the same mark."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def mark(self, text: str) -> str:
        """`` [1]`` to append to what the note is about; nothing for no note."""
        if not text:
            return ""
        if text not in self._texts:
            self._texts.append(text)
        return f" [{self._texts.index(text) + 1}]"

    def lines(self) -> list[str]:
        return [f"[{number}] {text}" for number, text in enumerate(self._texts, start=1)]


def ranked(
    columns: Sequence[Column], rows: Sequence[list[Entry]], groups: Sequence[Hashable]
) -> list[list[Entry]]:
    """The rows with the best and the second of each column marked, among rows of one group.

    Values that print alike rank alike; a column in which only one row has a value has no best.
    """
    marked = [list(row) for row in rows]
    for index, column in enumerate(columns):
        if column.better is None:
            continue
        for group in dict.fromkeys(groups):
            held = [row for row, of in zip(marked, groups, strict=True) if of == group]
            _rank(held, index, largest_first=column.better == "more")
    return marked


def _rank(rows: list[list[Entry]], index: int, largest_first: bool) -> None:
    valued = [
        row for row in rows if row[index].competes and isinstance(row[index].value, (int, float))
    ]
    valued.sort(key=lambda row: float(row[index].value or 0), reverse=largest_first)
    figures = list(dict.fromkeys(_figure(row[index]) for row in valued))
    if len(figures) < 2:
        return
    for row in valued:
        rank = figures.index(_figure(row[index])) + 1
        if rank <= 2:
            row[index] = replace(row[index], rank=rank)


def _figure(entry: Entry) -> str:
    """What is printed of the value itself."""
    return entry.text.partition(" ")[0]
