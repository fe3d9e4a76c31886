"""An interrupted run goes on to the records that an undisturbed one has."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

WriteSuite = Callable[..., Path]
Pacbench = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def suite(write_suite: WriteSuite) -> Path:
    methods = [{"name": "copies", "params": {"seconds": 0.2}}, {"name": "raises"}]
    # Enough repeats that the good cells are still being timed when the bad ones' records are there.
    return write_suite(methods=methods, sweep={"number": [1, 2]}, repeats=10)


def records_in(run: Path) -> list[dict[str, Any]]:
    text = (run / "records.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def essence(records: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """What does not depend on the clock, in the order of the ids: cells of a group end together."""
    records = sorted(records, key=lambda record: str(record["id"]))
    return [(r["id"], r["status"], r["metrics"], r["images"], r["command"]) for r in records]


def only_run(root: Path) -> Path:
    (run,) = root.iterdir()
    return run


def _heed_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # shells let background jobs ignore it


def interrupt(suite: Path, root: Path, number: signal.Signals, after: int) -> tuple[Path, int]:
    """Start the suite and send a signal once so many records are there; the run, the exit code."""
    command = [sys.executable, "-m", "pacbench", "run", str(suite), "--out", str(root)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=_heed_ctrl_c,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        time.sleep(0.02)
        runs = list(root.glob("*/records.jsonl"))
        if runs and runs[0].read_bytes().count(b"\n") >= after:
            break
    process.send_signal(number)
    return only_run(root), process.wait(timeout=60)


def test_sigkill_and_resume_give_the_records_of_an_undisturbed_run(
    suite: Path, pacbench: Pacbench, tmp_path: Path
) -> None:
    undisturbed = pacbench("run", suite, "--out", tmp_path / "whole")
    assert undisturbed.returncode == 1, undisturbed.stderr  # two of the cells raise
    expected = records_in(only_run(tmp_path / "whole"))
    statuses = [record["status"] for record in expected]
    assert statuses == ["error", "error", "ok", "ok"]  # who fails leaves the race at once

    run, code = interrupt(suite, tmp_path / "killed", signal.SIGKILL, after=1)
    assert code == -signal.SIGKILL
    before = records_in(run)
    assert 1 <= len(before) < 4
    _no_worker_is_left()

    resumed = pacbench("run", "--resume", run)
    assert resumed.returncode == 1, resumed.stderr
    after = records_in(run)
    assert after[: len(before)] == before  # nothing finished was repeated
    assert essence(after) == essence(expected)
    assert (run / "tables" / "small.md").is_file()


def test_ctrl_c_leaves_a_valid_run(suite: Path, pacbench: Pacbench, tmp_path: Path) -> None:
    run, code = interrupt(suite, tmp_path / "runs", signal.SIGINT, after=1)
    assert code == 130
    assert 1 <= len(records_in(run)) < 4
    assert pacbench("table", run).returncode == 0
    assert pacbench("run", "--resume", run, "--quiet").returncode == 1
    assert len(records_in(run)) == 4


def test_a_torn_line_is_redone(suite: Path, pacbench: Pacbench, tmp_path: Path) -> None:
    pacbench("run", suite, "--filter", "method=copies", "--out", tmp_path / "runs")
    run = only_run(tmp_path / "runs")
    path = run / "records.jsonl"
    expected = records_in(run)
    path.write_bytes(path.read_bytes()[:-30])
    resumed = pacbench("run", "--resume", run)
    assert resumed.returncode == 0, resumed.stderr
    assert essence(records_in(run)) == essence(expected)  # and no cell that the filter left out


def test_a_finished_run_has_nothing_left_to_do(
    suite: Path, pacbench: Pacbench, tmp_path: Path
) -> None:
    pacbench("run", suite, "--filter", "number=1", "--out", tmp_path / "runs")
    run = only_run(tmp_path / "runs")
    content = (run / "records.jsonl").read_bytes()
    assert pacbench("run", "--resume", run).returncode == 1
    assert (run / "records.jsonl").read_bytes() == content


def test_another_environment_is_refused(suite: Path, pacbench: Pacbench, tmp_path: Path) -> None:
    pacbench("run", suite, "--filter", "number=1", "--out", tmp_path / "runs")
    run = only_run(tmp_path / "runs")
    path = run / "environment.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "cpu": "another"}))
    resumed = pacbench("run", "--resume", run)
    assert resumed.returncode == 2
    assert "cpu: another, " in resumed.stderr


def _no_worker_is_left() -> None:
    """Workers die with their runner; the kernel takes a moment."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        processes = psutil.process_iter(["cmdline"])
        if not any("pacbench.worker" in (p.info["cmdline"] or []) for p in processes):
            return
        time.sleep(0.05)
    pytest.fail("a worker outlived its runner")
