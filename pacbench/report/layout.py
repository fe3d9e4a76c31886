"""What both layouts of a table share: names of rows, failures, and what stands beneath."""

from __future__ import annotations

from collections.abc import Sequence

from pacbench.record import Record
from pacbench.report.columns import UNSTABLE, Shown, View
from pacbench.report.conditions import conditions, elsewhere, unstable
from pacbench.report.naming import DATA_AXIS, axis_text, axis_title
from pacbench.report.reading import RANKS
from pacbench.report.run import Results
from pacbench.report.table import NOTHING, Column, Entry, Notes, Table

GIVEN = ("factor", "threads")
"""Axes besides the data's that change what methods are given: across them they do not compete."""


def naming_columns(first: str, axes: Sequence[str]) -> list[Column]:
    titles = [Column(axis_title(axis), names_row=True) for axis in axes]
    return [Column(first, align="l", names_row=True), *titles]


def names_of(
    record: Record, told: Sequence[str], axes: Sequence[str], results: Results, notes: Notes
) -> list[Entry]:
    """What a row is called: its label, marked with what a reader must be told, and its axes."""
    label = record.cell.label
    mark = "".join(map(notes.mark, [*told, elsewhere(record, results)]))
    return [Entry(label, label, mark=mark), *(_axis(record, axis) for axis in axes)]


def _axis(record: Record, axis: str) -> Entry:
    if axis not in record.cell.axes:
        return NOTHING
    value = record.cell.axes[axis]
    text = axis_text(value, axis)
    return Entry(text, value if isinstance(value, (int, float)) else text)


def entries_of(record: Record, shown: Sequence[Shown], view: View, notes: Notes) -> list[Entry]:
    if record.ok:
        return [column.entry(record, view) for column in shown]
    reason = record.failure.message if record.failure else ""
    failed = Entry("failed", record.status, mark=notes.mark(f"{record.status}: {reason}"))
    return [failed, *[NOTHING] * (len(shown) - 1)]


def contest(record: Record, axes: Sequence[str]) -> tuple[str, ...]:
    """What a row shares with those that it is ranked among."""
    data, held = record.cell.data, record.cell.axes
    given = [axis for axis in axes if axis.startswith(DATA_AXIS) or axis in GIVEN]
    shared = (record.environment, data.name, data.split, str(data.limit))
    return (*shared, *(axis_text(held.get(axis)) for axis in given))


def assembled(
    results: Results,
    columns: list[Column],
    rows: list[list[Entry]],
    notes: Notes,
    shown: Sequence[Shown],
) -> Table:
    """The table, with its conditions and how its columns are to be read."""
    entries = [entry for row in rows for entry in row]
    doubts = unstable(results.records) if any(UNSTABLE in e.text + e.mark for e in entries) else []
    ranks = [RANKS] if any(entry.rank for entry in entries) else []
    reading = dict.fromkeys(each.note for each in shown if each.note)
    return Table(
        name=results.suite.name,
        caption=results.suite.title or results.suite.name,
        columns=columns,
        rows=rows,
        conditions=conditions(results),
        notes=[*notes.lines(), *doubts, *reading, *ranks],
    )
