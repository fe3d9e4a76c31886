"""What a reader looks for first: how much was measured, and what was best at it."""

from __future__ import annotations

from collections.abc import Sequence

from pacbench.claims.decide import Decision
from pacbench.claims.report import tally
from pacbench.report.run import Results
from pacbench.report.table import Column, Entry, Table

FIRST_READ = ("mIoU", "RMSE", "EPE", "runtime")
"""How the titles of the columns begin that people look at first."""

DECIDED = ("hold", "do not hold")


def facts(runs: Sequence[Results], decisions: Sequence[Decision]) -> list[tuple[int, str]]:
    """Numbers, and what they count."""
    records = [record for run in runs for record in run.records]
    return [
        (len(runs), "suite" if len(runs) == 1 else "suites"),
        (sum(record.ok for record in records), "cells measured"),
        (sum(not record.ok for record in records), "cells failed"),
        (sum(bool(r.timing and r.timing.unstable) for r in records), "unstable timings"),
        *((count, _claims(what)) for what, count in tally(decisions).items()),
    ]


def best(runs: Sequence[Results], tables: Sequence[Table]) -> Table:
    """What the tables mark as best: one row for each contest, and for each of those that tie."""
    columns = [Column(title, align="l") for title in ("suite", "measure", "best")]
    rows = [
        [_text(run.suite.name), _text(measure), _text(name), figure]
        for run, table in zip(runs, tables, strict=True)
        for measure, name, figure in _winners(table)
    ]
    notes = ["best: of what is printed, among cells that were given the same"]
    return Table("best", "Best of each suite", [*columns, Column("value")], rows, notes)


def _claims(what: str) -> str:
    return f"claims {what}" if what in DECIDED else f"claims not decided: {what}"


def _winners(table: Table) -> list[tuple[str, str, Entry]]:
    """Measure, cell and value."""
    winners = []
    for index, column in enumerate(table.columns):
        if column.group.startswith("paper") or not column.title.startswith(FIRST_READ):
            continue
        at = "" if column.group in ("", "measured") else f", {column.group}"
        for row in table.rows:
            if row[index].rank == 1:
                shown = Entry(row[index].text, row[index].value, mark=row[index].mark)
                winners.append((f"{column.title}{at}", _named(row, table), shown))
    return winners


def _named(row: Sequence[Entry], table: Table) -> str:
    """``PAC-CRF, 16-64 (steps 5)``, with those of the swept axes that the cell has."""
    held = [
        f"{column.title} {entry.text}"
        for column, entry in zip(table.columns[1:], row[1:], strict=True)
        if column.names_row and entry.value is not None
    ]
    return f"{row[0].text} ({', '.join(held)})" if held else row[0].text


def _text(text: str) -> Entry:
    return Entry(text, text)
