"""The table of a run: a row per cell, or per method with an axis laid out across."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from pacbench.errors import UserError
from pacbench.record import Record
from pacbench.report.columns import ALL_COLUMNS, Shown, View, columns_of
from pacbench.report.conditions import conditions, note_of, reading, unstable
from pacbench.report.naming import DATA_AXIS, axis_text, axis_title, varying_axes
from pacbench.report.paper import paper_figures
from pacbench.report.run import Results
from pacbench.report.table import NOTHING, Column, Entry, Notes, Table, ranked
from pacbench.suite.schema import ColumnName, Suite

DEFAULT_COLUMNS: dict[str, tuple[ColumnName, ...]] = {
    "crf": ("score", "gain", "runtime", "setup", "step", "memory"),
    "upsample": ("score", "runtime", "memory"),
    "hotswap": ("score", "gain", "runtime", "memory", "parameters"),
    "op": ("runtime", "rate", "bandwidth", "share", "memory", "backend"),
    "tab_upsample_arch": ("layers", "parameters", "macs", "runtime", "memory"),
}
"""By the paper's table, else by task."""

GIVEN = ("factor", "threads")
"""Axes besides the data's that change what methods are given: across them they do not compete."""


def table_of(results: Results) -> Table:
    """The table that people read, with the columns and rows that the suite chooses."""
    shown, names = replace(results, records=_chosen(results)), column_names(results.suite)
    view = View(shown.records, results.records, results.peaks)
    across = _axis_across(shown, names)
    return _across(shown, names, view, across) if across else _by_cell(shown, names, view)


def column_names(suite: Suite) -> Sequence[ColumnName]:
    """The columns that a suite chooses, else those of the paper's table, else of the task."""
    default = DEFAULT_COLUMNS.get(suite.paper_table or "", DEFAULT_COLUMNS[suite.task])
    return suite.outputs.columns or default


def data_of(results: Results) -> Table:
    """The table that programs read: a row per cell, every column that has a value."""
    table = _by_cell(results, ALL_COLUMNS, View(results.records, results.records, results.peaks))
    extra = [Column("cell", align="l"), Column("status", align="l")]
    rows = [
        [*row, Entry(record.id, record.id), Entry(record.status, record.status)]
        for row, record in zip(table.rows, results.records, strict=True)
    ]
    return replace(table, columns=[*table.columns, *extra], rows=rows)


def _chosen(results: Results) -> list[Record]:
    wanted = results.suite.outputs.rows
    if not wanted:
        return results.records
    chosen = [
        record
        for record in results.records
        if any(
            fnmatchcase(name, pattern)
            for pattern in wanted
            for name in (record.cell.label, record.cell.method)
        )
    ]
    if not chosen:
        raise UserError(
            f"outputs.rows: no row is called {' or '.join(wanted)}; there are "
            + ", ".join(dict.fromkeys(record.cell.label for record in results.records))
        )
    return chosen


def _axis_across(results: Results, names: Sequence[ColumnName]) -> str | None:
    """The axis that is laid out across: the suite's choice, or the factor of upsampling."""
    varying = varying_axes(results.records)
    wanted = results.suite.outputs.across
    if wanted and wanted not in varying:
        raise UserError(
            f"outputs.across: '{wanted}' is no axis of more than one value; "
            f"there are {', '.join(varying) or 'none'}"
        )
    if wanted or results.suite.task != "upsample" or "score" not in names:
        return wanted
    return "factor" if "factor" in varying else None


def _by_cell(results: Results, names: Sequence[ColumnName], view: View) -> Table:
    axes = varying_axes(results.records)
    measured, paper = columns_of(names, view), _paper_columns(results, view)
    group = "measured" if paper else ""
    notes = Notes()
    columns = [
        Column(_FIRST.get(results.suite.task, "method"), align="l"),
        *(Column(axis_title(axis)) for axis in axes),
        *(replace(shown.column, group=group) for shown in measured),
        *(shown.column for shown in paper),
    ]
    rows = [
        [
            _label(record, note_of(record), results, notes),
            *(_axis(record, axis) for axis in axes),
            *_entries(record, measured, view, notes),
            *(shown.entry(record, view) for shown in paper),
        ]
        for record in results.records
    ]
    if results.suite.task != "op":  # different operators do not compete
        rows = ranked(columns, rows, [_contest(record, axes) for record in results.records])
    return _table(results, columns, rows, notes)


def _contest(record: Record, axes: Sequence[str]) -> tuple[str, ...]:
    """What a row shares with those that it is ranked among."""
    data, held = record.cell.data, record.cell.axes
    given = [axis for axis in axes if axis.startswith(DATA_AXIS) or axis in GIVEN]
    return (data.name, data.split, str(data.limit), *(axis_text(held.get(axis)) for axis in given))


def _across(results: Results, names: Sequence[ColumnName], view: View, axis: str) -> Table:
    """A row per method; scores and the paper's in a column per value of the axis, the rest in one.

    Times and the like of all values share a column, so that the table stays as narrow as a page.
    A method without the axis, as unaries are without steps, has the same in all columns.
    """
    swept = [record.cell.axes[axis] for record in results.records if axis in record.cell.axes]
    values = list(dict.fromkeys(map(axis_text, swept)))
    axes = [other for other in varying_axes(results.records) if other != axis]
    scored = columns_of([name for name in names if name in ("score", "gain", "edge")], view)
    rest = columns_of([name for name in names if name not in ("score", "gain", "edge")], view)
    paper = [shown for shown in _paper_columns(results, view) if shown.column.better]
    headings = [
        f"{value}×" if axis == "factor" else f"{axis_title(axis)} {value}" for value in values
    ]
    columns = [Column("method", align="l"), *(Column(axis_title(other)) for other in axes)]
    paper_title = f"paper, {view.score.unit}" if view.score else "paper"
    for heading in headings:
        columns += [replace(shown.column, group=heading) for shown in scored]
        columns += [replace(shown.column, group=heading, title=paper_title) for shown in paper]
    columns += [Column(f"{s.column.title} ({' / '.join(headings)})") for s in rest]
    lines: dict[tuple[str, ...], dict[str, Record]] = {}
    for record in results.records:
        key = (record.cell.label, *(axis_text(record.cell.axes.get(other)) for other in axes))
        place = record.cell.facts().get(axis)
        places = values if place is None else [axis_text(place)]
        lines.setdefault(key, {}).update(dict.fromkeys(places, record))
    notes = Notes()
    rows, groups = [], []
    for held in lines.values():
        first = next(iter(held.values()))
        groups.append(_contest(first, axes))
        note = _note_across(held, dict(zip(values, headings, strict=True)))
        row = [_label(first, note, results, notes), *(_axis(first, other) for other in axes)]
        for value in values:
            cell = held.get(value)
            row += _entries(cell, scored, view, notes) if cell else [NOTHING] * len(scored)
            row += [shown.entry(cell, view) if cell else NOTHING for shown in paper]
        row += [_joined([held.get(value) for value in values], shown, view) for shown in rest]
        rows.append(row)
    return _table(results, columns, ranked(columns, rows, groups), notes)


def _joined(records: Sequence[Record | None], shown: Shown, view: View) -> Entry:
    """``4.1 / 8.3 / 16.0 ± 3%``, the per cents being those of the widest interval, rounded up."""
    entries = [shown.entry(r, view) if r and r.ok else NOTHING for r in records]
    if all(entry is NOTHING for entry in entries):
        return NOTHING
    mark = next((entry.mark for entry in entries if entry.mark), "")
    text = " / ".join(entry.text.partition(" ")[0] for entry in entries)
    reaches = [
        max(entry.high - entry.value, entry.value - entry.low) / entry.value
        for entry in entries
        if isinstance(entry.value, float) and entry.low is not None and entry.high is not None
    ]
    if reaches:
        text += f" ± {math.ceil(100 * max(reaches))}%"
    return Entry(text, entries[0].value, mark=mark)


def _table(results: Results, columns: list[Column], rows: list[list[Entry]], notes: Notes) -> Table:
    return Table(
        name=results.suite.name,
        caption=results.suite.title or results.suite.name,
        columns=columns,
        rows=rows,
        conditions=conditions(results),
        notes=[*notes.lines(), *unstable(results.records), *reading(results)],
    )


_FIRST = {"op": "operator", "hotswap": "network"}


def _note_across(held: Mapping[str, Record], headings: Mapping[str, str]) -> str:
    """What a reader must be told of a row; by heading, where that is not the same for all."""
    told = {headings[value]: note_of(record) for value, record in held.items()}
    if len({*told.values()}) == 1:
        return next(iter(told.values()))
    return "; ".join(f"{heading}: {note}" for heading, note in told.items() if note)


def _label(record: Record, note: str, results: Results, notes: Notes) -> Entry:
    mark = notes.mark(note)
    if record.environment != results.environment.id and len(results.environments) > 1:
        other = results.environments.get(record.environment)
        mark += notes.mark(f"measured on {other.cpu}, {other.torch}" if other else "elsewhere")
    return Entry(record.cell.label, record.cell.label, mark=mark)


def _axis(record: Record, axis: str) -> Entry:
    if axis not in record.cell.axes:
        return NOTHING
    value = record.cell.axes[axis]
    text = axis_text(value, axis)
    return Entry(text, value if isinstance(value, (int, float)) else text)


def _entries(record: Record, shown: Sequence[Shown], view: View, notes: Notes) -> list[Entry]:
    if record.ok:
        return [column.entry(record, view) for column in shown]
    reason = record.failure.message if record.failure else ""
    failed = Entry("failed", record.status, mark=notes.mark(f"{record.status}: {reason}"))
    return [failed, *[NOTHING] * (len(shown) - 1)]


def _paper_columns(results: Results, view: View) -> list[Shown]:
    """The paper's figures that any of the cells has, under the heading "paper"."""
    table, score = results.suite.paper_table, view.score
    found = [paper_figures(table, record.cell) for record in results.records]
    printed = [figures.score for figures in found if figures and figures.score]
    title = score.title if score else "score"
    if any(text.startswith("+") for text in printed):
        title = "mIoU or gain, %"
    if any(" / " in text for text in printed):
        title += " (val / test)"
    kinds = [
        _Paper("score", Column(title, "paper", better=score.better if score else None)),
        _Paper("runtime_ms", Column("runtime, ms", "paper")),
        _Paper("parameters_k", Column("parameters, K", "paper")),
    ]
    return [
        Shown(kind.column, partial(kind.entry, table))
        for kind in kinds
        if any(kind.entry(table, record, view) is not NOTHING for record in results.records)
    ]


@dataclass(frozen=True)
class _Paper:
    kind: str
    column: Column

    def entry(self, table: str | None, record: Record, _: Any) -> Entry:
        figures = paper_figures(table, record.cell)
        value = getattr(figures, self.kind) if figures else None
        if value is None or figures is None:
            return NOTHING
        if self.kind == "score":
            comparable = None if record.cell.method == "unary" else figures.value
            return Entry(str(value), comparable)
        return Entry(f"{value:g}", value)
