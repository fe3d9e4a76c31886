"""The table of operators: time, rates, and the share of what the machine can do."""

from __future__ import annotations

from collections.abc import Sequence

from pacbench.environment import Environment
from pacbench.record import Record
from pacbench.report.crf import Notes
from pacbench.report.naming import axis_text, varying_axes
from pacbench.report.table import Column, Entry, Table
from pacbench.suite.schema import Suite
from pacbench.timing.peak import Peak

NOTHING = Entry("–")


def op_table(
    suite: Suite, records: list[Record], environment: Environment, peaks: Sequence[Peak] = ()
) -> Table:
    """One row per cell, in the order of the suite; cells that failed say so."""
    axes = varying_axes(records)
    known = {peak.threads: peak for peak in peaks}
    notes = Notes()
    columns = [
        Column("operator", align="l"),
        *(Column(axis) for axis in axes),
        *(Column(title) for title in ("time, ms", "95 % interval", "GFLOP/s", "GB/s", "of peak")),
        Column("memory, MB"),
        Column("backend", align="l"),
    ]
    rows = []
    for record in records:
        row = [Entry(record.cell.label, record.cell.label)]
        row += [Entry(axis_text(record.cell.axes.get(axis, "–"))) for axis in axes]
        row += _measured(record, known.get(record.cell.threads), notes)
        row += [Entry(record.cell.backend, record.cell.backend)]
        rows.append(row)
    threads = sorted({record.cell.threads for record in records})
    lines = [
        f"peak of {p.threads} threads: {p.flops_per_second / 1e9:.0f} GFLOP/s (matrix product), "
        f"{p.bytes_per_second / 1e9:.1f} GB/s (copy); of peak: the least time by either, over that "
        "measured"
        for p in peaks
    ]
    lines += [
        "FLOPs and bytes by each operator's formula; memory: the peak of a call beyond its inputs",
        f"on: {environment.cpu}, {' or '.join(map(str, threads))} threads, torch "
        f"{environment.torch}, pacbench {environment.pacbench}",
    ]
    return Table(suite.name, suite.title or suite.name, columns, rows, [*notes.lines(), *lines])


def _measured(record: Record, peak: Peak | None, notes: Notes) -> list[Entry]:
    if not record.ok or record.timing is None:
        reason = record.failure.message if record.failure else ""
        failed = Entry("failed" + notes.mark(f"{record.status}: {reason}"), record.status)
        return [failed, *[NOTHING] * 5]
    timing, cost = record.timing, record.cost
    mark = notes.mark(f"unstable timing: {timing.unstable}" if timing.unstable else "")
    low, high = timing.interval or (timing.low, timing.high)
    cells = [
        Entry(f"{1e3 * timing.median:.3g}{mark}", 1e3 * timing.median),
        Entry(f"{1e3 * low:.3g} to {1e3 * high:.3g}"),
    ]
    if cost is None:
        cells += [NOTHING, NOTHING, NOTHING]
    else:
        flops, moved = cost.flops / timing.median / 1e9, cost.bytes / timing.median / 1e9
        cells += [Entry(f"{flops:.1f}", flops), Entry(f"{moved:.2f}", moved)]
        share = peak.least_seconds(cost) / timing.median if peak else None
        cells.append(NOTHING if share is None else Entry(f"{share:.0%}", share))
    megabytes = None if record.memory is None else record.memory / 1e6
    cells.append(NOTHING if megabytes is None else Entry(f"{megabytes:.1f}", megabytes))
    return cells
