"""Cells of a group are timed against each other; who fails leaves, the others go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pacbench.record import Record
from pacbench.report.compare import compare, comparison_table, forest
from pacbench.runner import TOGETHER, Trace, groups, run_group
from pacbench.session import plan
from pacbench.suite.cells import Cell


def cells_of(*names: str, **timing: Any) -> list[Cell]:
    options = {"processes": 2, "budget_seconds": 0.0, **timing}
    overrides = [f"timing.{key}={value}" for key, value in options.items()]
    cells = plan("gate", overrides=[*overrides, "repeats=6"]).cells
    return [cell for cell in cells if cell.method in names]


def records_of(cells: list[Cell], folder: Path) -> list[Record]:
    return list(run_group(cells, Trace(folder, "environment", lambda cell: cell.id)))


def test_methods_share_their_rounds(tmp_path: Path) -> None:
    records = records_of(cells_of("adapting_kernel", "pac_pool2d"), tmp_path)
    timings = [record.timing for record in records if record.timing]
    assert [record.status for record in records] == ["ok", "ok"]
    assert len({timing.race for timing in timings}) == 1
    for timing in timings:
        assert timing.processes == [[0, 0, 0, 1, 1, 1]]
        assert [len(samples) for samples in timing.samples] == [6]
    for record in records:
        assert record.cost is not None
        assert record.memory is not None
        assert record.seconds.total >= record.seconds.process_start + record.seconds.work


def test_a_budget_buys_precision(tmp_path: Path) -> None:
    (cell,) = cells_of("pac_pool2d", processes=1, budget_seconds=0.3, precision=0.0001)
    (record,) = records_of([cell], tmp_path)
    assert record.timing is not None
    assert len(record.timing.samples[0]) > 6


def test_who_fails_leaves_the_race(tmp_path: Path) -> None:
    good, bad = cells_of("adapting_kernel", "pac_pool2d")
    bad = bad.model_copy(update={"params": {**bad.params, "kernel_size": 0}})
    records = records_of([bad, good], tmp_path)
    assert [(record.id, record.status) for record in records] == [
        (bad.id, "error"),
        (good.id, "ok"),
    ]


def test_groups_share_data_and_are_not_too_many() -> None:
    cells = plan(
        "gate", overrides=["sweep={data.size: [[8, 8], [16, 16]], dilation: [1, 2]}"]
    ).cells
    found = groups(cells)
    assert sorted(cell.id for group in found for cell in group) == sorted(c.id for c in cells)
    for group in found:
        assert len(group) <= TOGETHER
        assert len({cell.data.model_dump_json() for cell in group}) == 1
    assert len(found) == 4


def test_a_run_compares_its_methods(tmp_path: Path) -> None:
    from pacbench.report.run import read
    from pacbench.session import create

    options = ["timing={processes: 1, budget_seconds: 0}", "repeats=3"]
    work = create(plan("gate", overrides=options, only={"method": "pac_conv*"}), tmp_path)
    work.run(quiet=True)
    results = read(work.folder)
    found = compare([results])
    assert [comparison.theirs for comparison in found] == ["PAC"] * 2
    assert all(comparison.paired for comparison in found)
    assert all(c.ratio.low <= c.ratio.value <= c.ratio.high for c in found)
    assert len(comparison_table(found).rows) == 2
    assert len(forest(found).axes) == 1
    again = compare([results, results])
    assert [round(comparison.ratio.value, 9) for comparison in again] == [1, 1, 1]
    assert not any(comparison.paired for comparison in again)
