"""Pairs of this version against itself: what the gate's false alarms and power are drawn from.

Each is timed as it is and with real extra work on one side. They can be kept in a file, so that
short runs add up.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, PositiveFloat, ValidationError

from pacbench.errors import UserError
from pacbench.gate.decide import pair_log_ratio
from pacbench.gate.pairs import Pairing, Side
from pacbench.gate.session import Say, name_of
from pacbench.suite.cells import Cell

SLOWDOWNS = (0.0, 0.05, 0.10)


class Pair(BaseModel):
    """What one process pair said.

    Attributes:
        log_ratios: by benchmark, one for each of ``SLOWDOWNS``.
        seconds: that it would have taken in a run of the gate, which times no slowdowns.
        load: whether the other cores were kept busy.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    log_ratios: dict[str, list[float]]
    seconds: PositiveFloat
    load: bool = False


def collect(
    side: Side, cells: Sequence[Cell], budget: float, say: Say, load: bool = False
) -> Iterator[Pair]:
    """Time pairs for so many seconds, each as it is and with every slowdown."""
    end = time.monotonic() + budget
    pairing = Pairing((side, side), cells, seed=time.time_ns(), load=load)
    names = [name_of(cell) for cell in cells]
    longest, count = 0.0, 0
    while time.monotonic() + longest < end:
        begin = time.monotonic()
        timed = pairing.run(range(len(cells)), SLOWDOWNS[1:])
        taken = time.monotonic() - begin
        log_ratios = {names[i]: [pair_log_ratio(t) for t in times] for i, times in timed.items()}
        yield Pair(log_ratios=log_ratios, seconds=taken - pairing.extra_seconds, load=load)
        longest, count = max(longest, taken), count + 1
        say(f"{count} pairs, {max(0.0, end - time.monotonic()):.0f} s left")


def read_pool(path: Path, load: bool, names: Collection[str]) -> list[Pair]:
    """Pairs of these benchmarks that were kept, with or without load; none without a file."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        pairs = [Pair.model_validate_json(line) for line in lines]
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]["msg"]
        raise UserError(f"{path}: is no pool of the self-test: {reason}") from None
    return [pair for pair in pairs if pair.load == load and pair.log_ratios.keys() == set(names)]


def add_to_pool(path: Path, pair: Pair) -> None:
    """Keep a pair, as a line after those that are there."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(pair.model_dump_json() + "\n")
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None
