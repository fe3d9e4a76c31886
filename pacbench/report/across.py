"""A table with an axis laid out across: a row per method."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pacbench.record import Record
from pacbench.report.columns import Shown, View, columns_of
from pacbench.report.conditions import chosen_in_suite, note_of
from pacbench.report.layout import assembled, contest, entries_of, names_of, naming_columns
from pacbench.report.naming import axis_text, axis_title, varying_axes
from pacbench.report.paper_columns import paper_columns
from pacbench.report.run import Results
from pacbench.report.table import NOTHING, Column, Entry, Notes, Table, ranked
from pacbench.suite.schema import ColumnName


def across(results: Results, names: Sequence[ColumnName], view: View, axis: str) -> Table:
    """A row per method; scores and the paper's in a column per value of the axis, the rest in one.

    Times and the like of all values share a column, so that the table stays as narrow as a page.
    A method without the axis, as unaries are without steps, has the same in all columns.
    """
    swept = [record.cell.axes[axis] for record in results.records if axis in record.cell.axes]
    values = list(dict.fromkeys(map(axis_text, swept)))
    axes = [other for other in varying_axes(results.records) if other != axis]
    scored = columns_of([name for name in names if name in ("score", "gain", "edge")], view)
    rest = columns_of([name for name in names if name not in ("score", "gain", "edge")], view)
    paper = [s for s in paper_columns(results.suite.paper_table, view) if s.column.better]
    headings = [
        f"{value}×" if axis == "factor" else f"{axis_title(axis)} {value}" for value in values
    ]
    columns = naming_columns("method", axes)
    for heading in headings:
        columns += [replace(shown.column, group=heading) for shown in scored]
        columns += [
            replace(s.column, group=heading, title=s.column.title if len(paper) > 1 else "paper")
            for s in paper
        ]
    columns += [Column(f"{s.column.title} ({' / '.join(headings)})") for s in rest]
    lines: dict[tuple[str, ...], dict[str, Record]] = {}
    for record in results.records:
        others = (axis_text(record.cell.axes.get(other)) for other in axes)
        place = record.cell.facts().get(axis)
        places = values if place is None else [axis_text(place)]
        line = lines.setdefault((record.environment, record.cell.label, *others), {})
        line.update(dict.fromkeys(places, record))
    notes = Notes()
    rows, groups = [], []
    for held in lines.values():
        first = next(iter(held.values()))
        groups.append(contest(first, axes))
        note = _note_across(held, dict(zip(values, headings, strict=True)))
        row = names_of(first, [note, chosen_in_suite(held.values())], axes, results, notes)
        for value in values:
            cell = held.get(value)
            row += entries_of(cell, scored, view, notes) if cell else [NOTHING] * len(scored)
            row += [shown.entry(cell, view) if cell else NOTHING for shown in paper]
        row += [_joined([held.get(value) for value in values], shown, view) for shown in rest]
        rows.append(row)
    rows = ranked(columns, rows, groups)
    return assembled(results, columns, rows, notes, [*scored, *rest, *paper])


def _joined(records: Sequence[Record | None], shown: Shown, view: View) -> Entry:
    """``4.1 ± 3% / 8.3 ± 2% / 16.0``, each with the farther bound of its interval, rounded up."""
    entries = [shown.entry(r, view) if r and r.ok else NOTHING for r in records]
    if all(entry is NOTHING for entry in entries):
        return NOTHING
    return Entry(" / ".join(map(_in_per_cent, entries)), entries[0].value)


def _in_per_cent(entry: Entry) -> str:
    value, text = entry.value, entry.text
    if isinstance(value, float) and entry.low is not None and entry.high is not None:
        reach = max(entry.high - value, value - entry.low) / value
        text = f"{text.partition(' ')[0]} ± {math.ceil(100 * reach)}%"
    return text + entry.mark


def _note_across(held: Mapping[str, Record], headings: Mapping[str, str]) -> str:
    """What a reader must be told of a row; by heading, where that is not the same for all."""
    told: dict[str, list[str]] = {}
    for value, record in held.items():
        told.setdefault(note_of(record), []).append(headings[value])
    if len(told) == 1:
        return next(iter(told))
    return "; ".join(f"{', '.join(places)}: {note}" for note, places in told.items() if note)
