"""Runs cells, each in a process of its own, and turns whatever happens to it into a record."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pacbench.record import Failure, Outcome, Record, Seconds, Status
from pacbench.suite.cells import Cell

START_LIMIT = 300.0  # seconds for a worker to import everything, on a slow disk
TAIL_BYTES = 4000
READ_BYTES = 65536


@dataclass
class Conversation:
    """What was heard from a worker until it ended."""

    messages: dict[str, Any] = field(default_factory=dict)
    printed: bytes = b""
    ready_after: float | None = None
    timed_out: bool = False
    returncode: int = 0
    _unfinished: bytes = b""

    def listen(self, chunk: bytes) -> bool:
        """Take in what came through the channel; True once the worker has said it is ready."""
        *lines, self._unfinished = (self._unfinished + chunk).split(b"\n")
        for line in lines:
            self.messages.update(json.loads(line))
        return "ready" in self.messages

    @property
    def tail(self) -> str:
        return self.printed[-TAIL_BYTES:].decode(errors="replace").strip()


def run_in_worker(cell: Cell, pictures: Path, environment: str, command: str) -> Record:
    """Run one cell in a worker process; never raises for anything that the cell does.

    Args:
        cell: what to run.
        pictures: folder for the images of its outputs.
        environment: id of the environment, for the record.
        command: how a user repeats this cell, for the record.
    """
    started, clock = datetime.now(UTC), time.perf_counter()
    heard = _converse(cell, pictures)
    total = time.perf_counter() - clock
    start = heard.ready_after if heard.ready_after is not None else total
    common = {
        "id": cell.id,
        "cell": cell,
        "environment": environment,
        "command": command,
        "started": started.isoformat(timespec="seconds"),
    }
    if "outcome" in heard.messages:
        outcome = Outcome.model_validate(heard.messages["outcome"])
        return Record(
            **common,
            status="ok",
            protocol=outcome.protocol,
            metrics=outcome.metrics,
            images=outcome.images,
            timing=outcome.timing,
            seconds=Seconds(process_start=start, work=outcome.work_seconds, total=total),
        )
    status, message = _diagnose(cell, heard)
    return Record(
        **common,
        status=status,
        failure=Failure(message=message, tail=heard.tail),
        seconds=Seconds(process_start=start, work=total - start, total=total),
    )


def _diagnose(cell: Cell, heard: Conversation) -> tuple[Status, str]:
    """Status and one line for a cell without a result."""
    if heard.timed_out:
        if heard.ready_after is None:
            return "timeout", f"the worker did not start within {START_LIMIT:g} s"
        return "timeout", f"stopped after its limit of {cell.limits.seconds:g} s"
    if "failure" in heard.messages:
        failure = heard.messages["failure"]
        return failure["status"], failure["message"]
    if heard.returncode < 0:
        number = -heard.returncode
        hint = "; the kernel may have run out of memory" if number == signal.SIGKILL else ""
        return "crashed", f"killed by signal {number} ({_signal_name(number)}){hint}"
    return "exited", f"the process ended with exit code {heard.returncode} and no result"


def _converse(cell: Cell, pictures: Path) -> Conversation:
    """Start a worker and listen until it ends or its time is up."""
    heard = Conversation()
    start = time.perf_counter()
    deadline = start + START_LIMIT
    with _worker(cell, pictures) as worker, selectors.DefaultSelector() as selector:
        for fd in (worker.channel, worker.output, worker.end):
            selector.register(fd, selectors.EVENT_READ)
        ended = False
        while selector.get_map():
            # Once the process has ended, take what is still in its pipes and wait for no more:
            # a grandchild may hold them open.
            timeout = 0.0 if ended else deadline - time.perf_counter()
            events = selector.select(max(timeout, 0.0))
            if not ended and time.perf_counter() > deadline:
                heard.timed_out = True
                break
            if ended and not events:
                break
            for key, _ in events:
                if key.fd == worker.end:
                    ended = True
                    selector.unregister(key.fd)
                elif not (chunk := os.read(key.fd, READ_BYTES)):
                    selector.unregister(key.fd)
                elif key.fd == worker.output:
                    heard.printed = (heard.printed + chunk)[-TAIL_BYTES:]
                elif heard.listen(chunk) and heard.ready_after is None:
                    heard.ready_after = time.perf_counter() - start
                    deadline = time.perf_counter() + cell.limits.seconds
        if heard.timed_out:
            _kill_group(worker.process)
        heard.returncode = worker.process.wait()
    return heard


@dataclass(frozen=True)
class Worker:
    """A running worker and what there is to watch: its messages, what it prints, its end."""

    process: subprocess.Popen[bytes]
    channel: int
    output: int
    end: int


@contextlib.contextmanager
def _worker(cell: Cell, pictures: Path) -> Iterator[Worker]:
    """A worker that has been given its cell; nothing of it is left on exit."""
    channel, theirs = os.pipe()
    threads = {
        name: str(cell.threads)
        for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "pacbench.worker", str(theirs), str(pictures), str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(theirs,),
        start_new_session=True,  # Ctrl-C is for the runner, and its children can be killed with it
        env={**os.environ, **threads, "PYTHONFAULTHANDLER": "1"},
    )
    os.close(theirs)
    end = os.pidfd_open(process.pid)
    assert process.stdin is not None  # noqa: S101, a pipe
    assert process.stdout is not None  # noqa: S101, a pipe
    try:
        with contextlib.suppress(BrokenPipeError), process.stdin as stdin:
            stdin.write(cell.model_dump_json().encode())
        yield Worker(process, channel, process.stdout.fileno(), end)
    finally:
        _kill_group(process)
        process.wait()
        process.stdout.close()
        os.close(channel)
        os.close(end)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
