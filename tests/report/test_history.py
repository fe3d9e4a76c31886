"""Results over commits, with the steps in them, and runs in the formats of other tools."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pacbench.environment import Environment, capture
from pacbench.errors import UserError
from pacbench.export import FORMATS
from pacbench.record import Record, Seconds
from pacbench.report.compare import compare
from pacbench.report.history import history, history_figure, history_table, steps
from pacbench.report.run import Results, read
from pacbench.store import RunFolder
from pacbench.suite.load import load_suite
from pacbench.timing import Timing

MakeRun = Callable[..., Results]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 1.01, 0.99, 1.0, 1.01, 1.0], []),
        ([1.0, 1.01, 0.99, 1.2, 1.21, 1.19], [3]),
        ([1.0, 1.01, 0.99, 1.2, 1.21, 1.19, 0.8, 0.81, 0.8], [3, 6]),
        ([1.0, 1.3, 0.9, 1.2, 0.95, 1.25], []),  # noise is no step
        ([1.0, 2.0], []),  # too short to tell
    ],
)
def test_steps(values: list[float], expected: list[int]) -> None:
    assert steps(values) == expected


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """A run folder with the six cells of the gate's suite, all taking ``seconds``."""
    environment = capture(1)
    source = load_suite("gate")
    cells = source.cells("cpu", 1, {})
    from pacbench.session import plan

    def make(seconds: float = 0.001, day: int = 1, **changes: str) -> Results:
        here = Environment.model_validate({**environment.model_dump(), **changes})
        folder = RunFolder.create(tmp_path / "runs", "gate", source.text, here, plan("gate").info)
        with folder.writer() as writer:
            for cell in cells:
                blocks = [seconds * (1 + 0.01 * i) for i in range(8)]
                record = Record(
                    id=cell.id,
                    status="ok",
                    cell=cell,
                    protocol="timed only",
                    timing=Timing.of([blocks], [[0] * 4 + [1] * 4], [3], race="r"),
                    environment="e",
                    command=f"pacbench run gate --filter cell={cell.id}",
                    started=f"2026-01-{day:02}T00:00:00+00:00",
                    seconds=Seconds(process_start=1, work=1, total=2),
                )
                writer.append(record)
        return read(folder)

    return make


def test_history_joins_commits_and_parts_machines(make_run: MakeRun) -> None:
    levels = [0.001, 0.00101, 0.001, 0.002, 0.00201]
    runs = [make_run(s, day=9 - i, commit=f"{i:040}") for i, s in enumerate(reversed(levels))]
    series = history([*runs, make_run(cpu="another")])
    assert len(series) == 12
    mine = [line for line in series if line.cpu != "another"]
    assert all(
        [point.started for point in line.points] == sorted(point.started for point in line.points)
        for line in mine
    )
    assert all(line.steps == [3] for line in mine)
    table = history_table(mine[:1])
    assert [row[5].text for row in table.rows] == ["–", "–", "–", "+100.5%", "–"]
    assert len(history_figure(mine[:2]).axes) == 2


def test_runs_are_compared_cell_by_cell(make_run: MakeRun) -> None:
    found = compare([make_run(0.001), make_run(0.002)])
    assert len(found) == 6
    assert all(c.ratio.low <= 2 <= c.ratio.high for c in found)
    ours = make_run()
    alone = replace(ours, records=ours.records[:1])
    with pytest.raises(UserError, match="nothing to compare"):
        compare([alone])


def test_pytest_benchmark_reads_it(make_run: MakeRun, tmp_path: Path) -> None:
    for number, seconds in enumerate((0.001, 0.002)):
        text = FORMATS["pytest-benchmark"](make_run(seconds))[""]
        (tmp_path / f"{number}.json").write_text(text)
    tool = Path(sys.executable).with_name("pytest-benchmark")
    done = subprocess.run(
        [tool, "compare", "0.json", "1.json", "--csv=out.csv"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text())))
    assert len(rows) == 12
    assert {round(float(row["min"]), 6) for row in rows} == {0.001, 0.002}


def test_asv_reads_it(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(commit="a" * 40)
    files = FORMATS["asv"](run)
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert sorted(files) == [
        "benchmarks.json",
        "pacbench/aaaaaaaa-existing-py" + run.environment.python + ".json",
        "pacbench/machine.json",
    ]
    results = pytest.importorskip("asv.results", reason="asv is not installed")
    (path,) = tmp_path.glob("pacbench/aaaaaaaa-*.json")
    loaded = results.Results.load(str(path))
    assert loaded.commit_hash == "a" * 40
    names = sorted(loaded.get_all_result_keys())
    assert len(names) == 6
    assert loaded.get_result_value(names[0], []) == [pytest.approx(0.001035)]


def test_github_action_benchmark(make_run: MakeRun) -> None:
    entries = json.loads(FORMATS["github-action-benchmark"](make_run())[""])
    assert len(entries) == 6
    for entry in entries:
        assert set(entry) == {"name", "unit", "value", "range", "extra"}
        assert entry["unit"] == "ms"
        assert entry["value"] == pytest.approx(1.035)


def test_csv_has_every_block(make_run: MakeRun) -> None:
    rows = list(csv.DictReader(io.StringIO(FORMATS["csv"](make_run())[""])))
    assert len(rows) == 6 * 8
    assert {row["process"] for row in rows} == {"0", "1"}
    assert {row["calls"] for row in rows} == {"3"}
