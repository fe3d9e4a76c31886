"""Progress: a bar that moves while cells are timed together, lines where there is no terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pacbench.progress import Bar, Lines, Progress, progress
from pacbench.record import Record, Seconds
from pacbench.suite import Cell, load_suite


@pytest.fixture
def cells(write_suite: Callable[..., Path]) -> list[Cell]:
    return load_suite(str(write_suite(sweep={"number": [1, 2, 3]}))).cells("cpu", 1, {})


def record_of(cell: Cell) -> Record:
    return Record(
        id=cell.id,
        status="ok",
        cell=cell,
        environment="e",
        command="c",
        started="2026-01-01T00:00:00+00:00",
        seconds=Seconds(process_start=1, work=1, total=2),
    )


def test_the_bar_moves_with_the_samples_of_a_group(
    cells: list[Cell], capsys: pytest.CaptureFixture[str]
) -> None:
    with Bar(total=4, done=1) as bar:
        bar.begin(cells)
        bar.reach(0.5, "sample 2/2 of process 1/1")
        assert bar._bar.n == 2.5
        for cell in cells:
            bar.end(record_of(cell))
        assert bar._bar.n == 4
    shown = capsys.readouterr().err
    assert "Copies number=1 [" in shown
    assert " and 2 more" in shown
    assert "62%" in shown  # 2.5 of 4
    assert ", sample 2/2 of process 1/1" in shown


def test_lines_and_silence(cells: list[Cell], capsys: pytest.CaptureFixture[str]) -> None:
    with Lines(total=3, done=0) as lines:
        lines.begin(cells)
        lines.reach(0.5, "")
        lines.end(record_of(cells[0]))
    assert capsys.readouterr().err.startswith("[1/3] Copies number=1 [")
    assert type(progress(3, 0, quiet=True)) is Progress
    assert isinstance(progress(3, 0, quiet=False), Lines)  # tests have no terminal
