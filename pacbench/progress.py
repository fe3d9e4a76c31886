"""How far a run has come: a bar on a terminal, plain lines elsewhere, nothing if asked."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Self

from tqdm import tqdm

from pacbench.record import Record
from pacbench.suite.cells import Cell


class Progress:
    """Says nothing; the base of those that do."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self, group: Sequence[Cell]) -> None:
        """A group of cells, which are timed against each other, begins."""

    def reach(self, share: float, place: str) -> None:
        """So much of the group is done, and this is where it is."""

    def end(self, record: Record) -> None:
        pass

    def close(self) -> None:
        pass


class Lines(Progress):
    """A line per finished cell, for logs."""

    def __init__(self, total: int, done: int) -> None:
        self.total = total
        self.done = done

    def end(self, record: Record) -> None:
        self.done += 1
        print(f"[{self.done}/{self.total}] {_summary(record)}", file=sys.stderr, flush=True)


class Bar(Progress):
    """A bar with the current cells and the time left; failures stay visible above it."""

    FORMAT = "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"

    def __init__(self, total: int, done: int) -> None:
        self._bar = tqdm(total=total, initial=done, bar_format=self.FORMAT, dynamic_ncols=True)
        self._before, self._group, self._ended = float(done), 0, 0

    def begin(self, group: Sequence[Cell]) -> None:
        self._group, self._ended = len(group), 0
        more = f" and {len(group) - 1} more" if group[1:] else ""
        self._bar.set_description_str(f"{group[0]}{more}")

    def reach(self, share: float, place: str) -> None:
        self._bar.n = self._before + share * self._group
        self._bar.set_postfix_str(place)

    def end(self, record: Record) -> None:
        if not record.ok:
            self._bar.write(_summary(record), file=sys.stderr)
        self._ended += 1
        if self._ended == self._group:
            self._before += self._group
            self.reach(0, "")

    def close(self) -> None:
        self._bar.close()


def progress(total: int, done: int, quiet: bool) -> Progress:
    """For ``total`` cells, ``done`` of which were finished earlier."""
    if quiet:
        return Progress()
    return Bar(total, done) if sys.stderr.isatty() else Lines(total, done)


def _summary(record: Record) -> str:
    if record.ok:
        return f"{record.cell}: ok, {record.seconds.total:.1f} s"
    reason = record.failure.message.splitlines()[0] if record.failure else ""
    return f"{record.cell}: {record.status}: {reason}"
