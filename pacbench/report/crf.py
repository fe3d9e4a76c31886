"""The table of CRFs: mIoU, gain over the unaries and runtime, beside the paper's."""

from __future__ import annotations

from typing import Any

from pacbench.environment import Environment
from pacbench.method import methods
from pacbench.record import Record
from pacbench.report.naming import axis_text, constant_axes, varying_axes
from pacbench.report.paper import paper_row, paper_rows
from pacbench.report.scores import gain_over_unaries
from pacbench.report.table import Column, Entry, Table
from pacbench.suite.schema import Suite

NOTHING = Entry("–")


def crf_table(suite: Suite, records: list[Record], environment: Environment) -> Table:
    """One row per cell, in the order of the suite; cells that failed say so."""
    axes = varying_axes(records)
    paper = paper_rows(suite.paper_table)
    columns = [
        Column("method", align="l"),
        *(Column(axis) for axis in axes),
        Column("mIoU, %", "measured"),
        Column("gain", "measured"),
        Column("runtime, ms", "measured"),
        Column("backend", "measured", align="l"),
    ]
    if paper:
        columns += [Column("mIoU, % (val / test)", "paper"), Column("runtime, ms", "paper")]
    notes = Notes()
    rows = []
    for record in records:
        row = [Entry(record.cell.label + notes.mark(_note_of(record)), record.cell.label)]
        row += [_axis(record, axis) for axis in axes]
        row += _measured(record, records, notes)
        row += [Entry(record.cell.backend, record.cell.backend)]
        if paper:
            row += _papers(paper_row(suite.paper_table, record.cell))
        rows.append(row)
    return Table(
        name=suite.name,
        caption=suite.title or suite.name,
        columns=columns,
        rows=rows,
        notes=[*notes.lines(), *_provenance(records, environment, bool(paper))],
    )


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


def _note_of(record: Record) -> str:
    """What a reader must be told of the method; of a learnable one, what it was trained by."""
    if weights := record.cell.params.get("weights"):
        return f"weights: {weights}"
    return methods[record.cell.method].info.note if record.cell.method in methods else ""


def _axis(record: Record, axis: str) -> Entry:
    if axis not in record.cell.axes:
        return NOTHING
    text = axis_text(record.cell.axes[axis])
    return Entry(text, text)


def _measured(record: Record, records: list[Record], notes: Notes) -> list[Entry]:
    if not record.ok or record.timing is None:
        reason = record.failure.message if record.failure else ""
        failed = Entry("failed" + notes.mark(f"{record.status}: {reason}"), record.status)
        return [failed, NOTHING, NOTHING]
    miou = 100 * record.metrics["miou"]
    score = Entry(f"{miou:.2f}", miou)
    if record.cell.method == "unary":
        return [score, NOTHING, NOTHING]
    gain = gain_over_unaries(record, records)
    gained = NOTHING if gain is None else Entry(_signed(gain), gain)
    timing = record.timing
    warning = notes.mark(f"unstable timing: {timing.unstable}" if timing.unstable else "")
    runtime = f"{1e3 * timing.median:.0f} ± {1e3 * timing.mad:.0f}{warning}"
    return [score, gained, Entry(runtime, 1e3 * timing.median)]


def _signed(number: float) -> str:
    return f"{number:+.2f}".replace("-", "−")


def _papers(row: dict[str, Any] | None) -> list[Entry]:
    if row is None:
        return [NOTHING, NOTHING]
    if "miou_val" in row:
        test = f"{row['miou_test']:.2f}" if "miou_test" in row else "–"
        scores = f"{row['miou_val']:.2f} / {test}"
    else:
        scores = f"{_signed(row['gain_val'])} / {_signed(row['gain_test'])}"
    runtime = row.get("runtime_ms")
    return [
        Entry(scores, scores),
        NOTHING if runtime is None else Entry(f"{runtime}", runtime),
    ]


def _provenance(records: list[Record], environment: Environment, paper: bool) -> list[str]:
    """What the figures were measured on and how: every table carries it."""
    ran = [record for record in records if record.ok]
    datas = {(r.cell.data.name, r.cell.data.split, len(r.images), r.cell.seed) for r in ran}
    lines = [
        f"data: {name}, split {split}, {count} samples, seed {seed}"
        for name, split, count, seed in sorted(datas)
    ]
    if constants := constant_axes(records):
        lines.append("throughout: " + ", ".join(f"{k} = {v}" for k, v in constants.items()))
    lines += [f"protocol: {protocol}" for protocol in sorted({str(r.protocol) for r in ran})]
    counts = [len(blocks) for r in ran if r.timing for blocks in r.timing.samples]
    processes = sorted({r.cell.timing.processes for r in ran})
    lines += [
        "runtime: median ± median absolute deviation over all samples, "
        f"{min(counts, default=0)} or more timings of each in turn with the other methods, in "
        f"{' or '.join(map(str, processes)) or 0} processes; a method's own set-up included",
        f"on: {environment.cpu}, {environment.threads} threads, torch {environment.torch}, "
        f"pacbench {environment.pacbench} ({(environment.commit or 'no commit')[:10]}"
        f"{', with local changes' if environment.dirty else ''})",
    ]
    if paper:
        lines.append(
            "paper: as it prints them, for Pascal VOC with FCN-8s unaries on its authors' hardware"
        )
    return lines
