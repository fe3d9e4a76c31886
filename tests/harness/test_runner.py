"""Whatever a method does to its worker becomes a record; the suite goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from pacbench.record import Record
from pacbench.runner import Trace, run_group
from pacbench.suite import load_suite

WriteSuite = Callable[..., Path]


@pytest.fixture
def run(write_suite: WriteSuite, tmp_path: Path) -> Callable[..., Record]:
    def run_method(name: str, **limits: float) -> Record:
        path = write_suite(methods=[{"name": name}], limits={"seconds": 60, **limits})
        (cell,) = load_suite(str(path)).cells("cpu", 1, {})
        trace = Trace(tmp_path / "pictures", "environment", lambda _: "command")
        (record,) = run_group([cell], trace)
        return record

    return run_method


def test_a_cell_that_runs(run: Callable[..., Record]) -> None:
    record = run("copies")
    assert record.ok
    assert record.failure is None
    assert record.timing is not None
    assert [len(runs) for runs in record.timing.samples] == [3]
    assert 0 <= record.metrics["miou"] <= 1
    assert len(record.images) == 1
    assert record.seconds.total >= record.seconds.process_start + record.seconds.work


@pytest.mark.parametrize(
    ("method", "status", "message"),
    [
        ("raises", "error", "RuntimeError: the lattice is full"),
        ("exits", "exited", "SystemExit: enough"),
        ("exits_hard", "exited", "exit code 0 and no result"),
        ("killed", "crashed", "signal 9 (SIGKILL); the kernel may have run out of memory"),
        ("segfaults", "crashed", "signal 11 (SIGSEGV)"),
        ("aborts", "crashed", "signal 6 (SIGABRT)"),
        ("returns_nan", "not_finite", "1 of 16,128 values of the output for sample"),
    ],
)
def test_failures(run: Callable[..., Record], method: str, status: str, message: str) -> None:
    record = run(method)
    assert record.status == status
    assert record.failure is not None
    assert message in record.failure.message
    assert record.timing is None


def test_the_tail_of_the_error_is_kept(run: Callable[..., Record]) -> None:
    raised, crashed = run("raises").failure, run("segfaults").failure
    assert raised is not None
    assert crashed is not None
    assert 'raise RuntimeError("the lattice is full")' in raised.tail
    assert "in misbehave" in crashed.tail  # the fault handler says where native code fell


@pytest.mark.parametrize("method", ["sleeps", "prints_a_lot"])
def test_time_limit(run: Callable[..., Record], method: str) -> None:
    record = run(method, seconds=1.5)
    assert record.status == "timeout"
    assert record.failure is not None
    assert record.failure.message == "stopped after its limit of 1.5 s"


def test_memory_limit(run: Callable[..., Record]) -> None:
    record = run("allocates", memory_gb=1.0)
    assert record.status == "out_of_memory"
    assert record.failure is not None
    assert "allocate" in record.failure.message


def test_a_child_of_a_worker_does_not_outlive_it(run: Callable[..., Record]) -> None:
    start = time.monotonic()
    record = run("leaves_a_child")
    assert record.failure is not None
    assert record.failure.message == "RuntimeError: left a child behind"
    assert time.monotonic() - start < 50  # the child, which holds the pipe, sleeps for 600
    deadline = time.monotonic() + 10  # the kernel takes a moment
    while _child_is_there() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _child_is_there()


def _child_is_there() -> bool:
    commands = (process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"]))
    return any("import time; time.sleep(600)" in " ".join(command) for command in commands)
