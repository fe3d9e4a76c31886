"""The table of a run: a row per cell, or per method with an axis laid out across."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from pacbench.errors import UserError
from pacbench.record import Record
from pacbench.report.across import across
from pacbench.report.columns import ALL_COLUMNS, View, columns_of
from pacbench.report.conditions import chosen_in_suite, note_of
from pacbench.report.layout import assembled, contest, entries_of, names_of, naming_columns
from pacbench.report.naming import varying_axes
from pacbench.report.paper_columns import paper_columns
from pacbench.report.run import Results
from pacbench.report.table import Column, Entry, Notes, Table, ranked
from pacbench.suite.schema import ColumnName, Suite

DEFAULT_COLUMNS: dict[str, tuple[ColumnName, ...]] = {
    "crf": ("score", "gain", "runtime", "setup", "step", "memory"),
    "upsample": ("score", "runtime", "memory"),
    "hotswap": ("score", "gain", "runtime", "memory", "parameters"),
    "op": ("runtime", "rate", "bandwidth", "share", "memory", "backend"),
    "tab_upsample_arch": ("layers", "parameters", "macs", "runtime", "memory"),
}
"""By the paper's table, else by task."""

_FIRST = {"op": "operator", "hotswap": "network"}
"""What the first column is called, where that is not the method."""


def table_of(results: Results) -> Table:
    """The table that people read, with the columns and rows that the suite chooses."""
    shown, names = replace(results, records=chosen_rows(results)), column_names(results.suite)
    view = View(shown.records, results.records, results.peaks)
    axis = _axis_across(shown, names)
    return across(shown, names, view, axis) if axis else _by_cell(shown, names, view)


def column_names(suite: Suite) -> Sequence[ColumnName]:
    """The columns that a suite chooses, else those of the paper's table, else of the task."""
    default = DEFAULT_COLUMNS.get(suite.paper_table or "", DEFAULT_COLUMNS[suite.task])
    return suite.outputs.columns or default


def data_of(results: Results) -> Table:
    """The table that programs read: a row per cell, every column that has a value."""
    table = _by_cell(results, ALL_COLUMNS, View(results.records, results.records, results.peaks))
    extra = {
        "unstable": [record.timing.unstable if record.timing else "" for record in results.records],
        "environment": [record.environment for record in results.records],
        "cell": [record.id for record in results.records],
        "status": [record.status for record in results.records],
    }
    columns = [*table.columns, *(Column(title, align="l") for title in extra)]
    rows = [
        [*row, *(Entry(text, text) for text in texts)]
        for row, texts in zip(table.rows, zip(*extra.values(), strict=True), strict=True)
    ]
    return replace(table, columns=columns, rows=rows)


def chosen_rows(results: Results) -> list[Record]:
    """The records that the suite chooses to show; ``UserError`` where it names none of them."""
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
    measured, paper = columns_of(names, view), paper_columns(results.suite.paper_table, view)
    group = "measured" if paper else ""
    notes = Notes()
    columns = [
        *naming_columns(_FIRST.get(results.suite.task, "method"), axes),
        *(replace(shown.column, group=group) for shown in measured),
        *(shown.column for shown in paper),
    ]
    rows = [
        [
            *names_of(record, [note_of(record), chosen_in_suite([record])], axes, results, notes),
            *entries_of(record, measured, view, notes),
            *(shown.entry(record, view) for shown in paper),
        ]
        for record in results.records
    ]
    if results.suite.task != "op":  # different operators do not compete
        rows = ranked(columns, rows, [contest(record, axes) for record in results.records])
    return assembled(results, columns, rows, notes, [*measured, *paper])
