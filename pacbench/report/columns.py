"""The columns that tables are made of: what each shows of a record."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pacbench.record import Record
from pacbench.report import reading
from pacbench.report.scores import (
    EDGE,
    Score,
    evidence,
    gain_over_baseline,
    is_baseline,
    score_of,
)
from pacbench.report.table import NOTHING, Column, Entry
from pacbench.suite.schema import ColumnName
from pacbench.timing.intervals import Estimate
from pacbench.timing.peak import Peak

UNSTABLE = " †"

LEAST_MEMORY = 0.01
"""MB: a few pages, of which nothing finer is told."""


@dataclass(frozen=True)
class View:
    """What a column may need besides the record.

    Attributes:
        records: those that the table shows.
        pool: all of the run, among which gains find what they are counted from.
        peaks: the machine's limits.
    """

    records: Sequence[Record]
    pool: Sequence[Record]
    peaks: Sequence[Peak]

    @property
    def score(self) -> Score | None:
        return score_of(self.records)

    @property
    def ran(self) -> list[Record]:
        return [record for record in self.records if record.ok]


@dataclass(frozen=True)
class Shown:
    """A column.

    Attributes:
        entry: what it shows of a record that ran.
        note: how it is to be read; may be empty.
    """

    column: Column
    entry: Callable[[Record, View], Entry]
    note: str = ""


def columns_of(names: Sequence[ColumnName], view: View) -> list[Shown]:
    """The named columns, without those of which no record has anything to show."""
    chosen = [_COLUMNS[name](view) for name in names]
    return [
        shown
        for shown in chosen
        if not view.ran or any(shown.entry(record, view) is not NOTHING for record in view.ran)
    ]


def estimated(estimate: Estimate, digits: int, signed: bool = False) -> Entry:
    """``12.34 ± 0.56``, the ± being the farther bound of the 95 % interval; alone if unbounded."""
    value, low, high = estimate
    text = f"{value:{'+' if signed else ''}.{digits}f}".replace("-", "−")
    reach = max(high - value, value - low)
    if not math.isfinite(reach):
        return Entry(text, value)
    return Entry(f"{text} ± {reach:.{digits}f}", value, low, high)


def significant(value: float, figures: int = 3) -> int:
    """Digits after the point that show so many significant figures."""
    if not value:
        return 0
    exponent = int(f"{value:.{figures - 1}e}".partition("e")[2])  # of what is printed: 99.96 is 100
    return max(0, figures - 1 - exponent)


def _score(view: View) -> Shown:
    return _scored(view.score, view)


def _edge(view: View) -> Shown:
    return _scored(EDGE, view)


def _scored(score: Score | None, view: View) -> Shown:
    if score is None:
        return Shown(Column("score"), lambda *_: NOTHING)

    def entry(record: Record, _: View) -> Entry:
        found = evidence(record, score)
        return NOTHING if found is None else estimated(found.estimate(), score.digits)

    note = reading.of_score(score, view.ran)
    return Shown(Column(score.title, better=score.better), entry, note)


def _gain(view: View) -> Shown:
    score = view.score

    def entry(record: Record, view: View) -> Entry:
        gained = gain_over_baseline(record, view.pool, score) if score else None
        if gained is None or score is None:
            return NOTHING
        return estimated(gained.estimate(), score.digits, signed=True)

    if score is None:
        return Shown(Column("gain"), entry)
    column = Column(f"gain, {score.difference_unit}", better=score.better)
    return Shown(column, entry, reading.of_gain(view.ran))


def _runtime(view: View) -> Shown:
    def entry(record: Record, view: View) -> Entry:
        timing = record.timing
        if timing is None or (record.cell.task == "crf" and is_baseline(record, view.pool)):
            return NOTHING
        mark = UNSTABLE if timing.unstable else ""
        if timing.interval is None:
            return replace(_plain(timing.median, 1e3), mark=mark)
        low, high = timing.interval
        estimate = Estimate(1e3 * timing.median, 1e3 * low, 1e3 * high)
        digits = max(significant(estimate.value), significant(estimate.high - estimate.low, 1))
        return replace(estimated(estimate, digits), mark=mark)

    timed = [record for record in view.ran if entry(record, view) is not NOTHING]
    return Shown(Column("runtime, ms", better="less"), entry, reading.of_runtime(timed))


def _stage(name: str, title: str) -> Callable[[View], Shown]:
    def entry(record: Record, _: View) -> Entry:
        return _plain(record.stages.get(name), 1e3)

    return lambda _: Shown(Column(title, better="less"), entry, reading.STAGES)


def _plain(value: float | None, scale: float = 1) -> Entry:
    if value is None:
        return NOTHING
    return Entry(f"{scale * value:.{significant(scale * value)}f}", scale * value)


def _number(title: str, value: Callable[[Record], float | None]) -> Callable[[View], Shown]:
    return lambda _: Shown(Column(title), lambda record, _: _plain(value(record)))


def _memory(_: View) -> Shown:
    def entry(record: Record, view: View) -> Entry:
        skipped = record.cell.task == "crf" and is_baseline(record, view.pool)
        if record.memory is None or skipped:
            return NOTHING
        megabytes = record.memory / 1e6
        if 0 < megabytes < LEAST_MEMORY:
            return Entry(f"<{LEAST_MEMORY}", megabytes)
        return Entry(f"{megabytes:.{min(significant(megabytes), 2)}f}", megabytes)

    return Shown(Column("memory, MB", better="less"), entry, reading.MEMORY)


def _parameters(record: Record) -> float | None:
    return record.architecture.parameters / 1e3 if record.architecture else None


def _macs(record: Record) -> float | None:
    return record.cost.flops / 2e9 if record.cost else None


def _rate(record: Record) -> float | None:
    return record.cost.flops / record.timing.median / 1e9 if record.cost and record.timing else None


def _bandwidth(record: Record) -> float | None:
    return record.cost.bytes / record.timing.median / 1e9 if record.cost and record.timing else None


def _share(view: View) -> Shown:
    def entry(record: Record, view: View) -> Entry:
        cell, cost, timing = record.cell, record.cost, record.timing
        peak = next((p for p in view.peaks if p.limits(cell.device, cell.threads)), None)
        if peak is None or cost is None or timing is None:
            return NOTHING
        share = peak.least_seconds(cost) / timing.median
        in_cache = cost.bytes / peak.bytes_per_second > timing.median
        return Entry(reading.IN_CACHE if in_cache else f"{share:.0%}", share)

    in_cache = any(entry(record, view).text == reading.IN_CACHE for record in view.ran)
    return Shown(Column("of peak"), entry, reading.of_share(view.peaks, in_cache))


def _layers(view: View) -> Shown:
    def entry(record: Record, _: View) -> Entry:
        if record.architecture is None or not record.architecture.layers:
            return NOTHING
        branches = record.architecture.layers.values()
        text = " / ".join(" ".join(layers) for layers in branches)
        return Entry(text, text)

    return Shown(Column("layers", align="l"), entry, reading.of_layers(view.ran))


def _word(name: str) -> Callable[[View], Shown]:
    def entry(record: Record, _: View) -> Entry:
        text = str(getattr(record.cell, name))
        return Entry(text, text)

    return lambda _: Shown(Column(name, align="l"), entry)


_COLUMNS: dict[ColumnName, Callable[[View], Shown]] = {
    "score": _score,
    "gain": _gain,
    "edge": _edge,
    "runtime": _runtime,
    "setup": _stage("set-up", "set-up, ms"),
    "step": _stage("step", "step, ms"),
    "memory": _memory,
    "parameters": _number("parameters, K", _parameters),
    "macs": _number("GMACs", _macs),
    "layers": _layers,
    "rate": _number("GFLOP/s", _rate),
    "bandwidth": _number("GB/s", _bandwidth),
    "share": _share,
    "backend": _word("backend"),
    "device": _word("device"),
}
ALL_COLUMNS: tuple[ColumnName, ...] = tuple(_COLUMNS)
