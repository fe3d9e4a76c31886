"""What the harness costs beyond the work of the cells and the start of their processes.

Bar: less than 3 % of the wall time of ``suites/crf.yaml``.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from pacbench import session
from pacbench.report.run import read
from pacbench.report.write import write_figures, write_tables

BAR = 0.03


@pytest.mark.timeout(1800)
def test_harness_costs_less_than_three_percent(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    walls = []

    def whole_run() -> Path:
        start = time.perf_counter()
        work = session.create(session.plan("crf"), tmp_path)
        work.run(quiet=True)
        results = read(work.folder)
        write_tables(results, list(results.suite.outputs.tables))
        write_figures(results, list(results.suite.outputs.figures))
        walls.append(time.perf_counter() - start)
        return work.folder.path

    benchmark.pedantic(whole_run, rounds=1, iterations=1)
    (folder,) = tmp_path.iterdir()
    seconds = [record.seconds for record in read(session.RunFolder(folder)).records]
    process_start = sum(s.process_start for s in seconds)
    work = sum(s.work for s in seconds)
    harness = walls[0] - process_start - work
    share = harness / walls[0]
    print(
        f"\nsuites/crf.yaml: {walls[0]:.1f} s = work of the cells {work:.1f} s + process start "
        f"{process_start:.1f} s + harness {harness:.2f} s ({share:.2%}, bar {BAR:.0%})"
    )
    assert share < BAR
