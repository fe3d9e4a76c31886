"""A process that is asked one thing at a time, and whose every way of failing is told.

It is started with the number of a pipe and of its parent as last arguments, reads requests as JSON
lines from its standard input and writes one JSON line to the pipe for each; what it prints is kept
for its failure. ``{"failure": {"status": …, "message": …}}`` is its own account of one.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

Status = Literal["ok", "error", "exited", "crashed", "timeout", "out_of_memory", "not_finite"]

TAIL_BYTES = 4000
READ_BYTES = 65536
LAST_WORDS = 2.0  # seconds for a process that has failed to print why and end


class ProcessFailedError(Exception):
    """The process gave no answer."""

    def __init__(self, status: Status, message: str, tail: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.tail = tail


class Process:
    """A child of this one; to be closed, after which nothing of it is left."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._channel, theirs = os.pipe()
        self._process = subprocess.Popen(
            [*command, str(theirs), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(theirs,),
            start_new_session=True,  # Ctrl-C is for the parent, and its children die with it
            env={**os.environ, **environment, "PYTHONFAULTHANDLER": "1"},
        )
        os.close(theirs)
        assert self._process.stdin is not None  # noqa: S101, a pipe
        assert self._process.stdout is not None  # noqa: S101, a pipe
        self._input, self._output = self._process.stdin, self._process.stdout
        self._end = os.pidfd_open(self._process.pid)
        self._selector = selectors.DefaultSelector()
        for fd in (self._channel, self._output.fileno(), self._end):
            self._selector.register(fd, selectors.EVENT_READ)
        self._ended = False
        self._heard = b""
        self._printed = b""

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, request: Mapping[str, Any], seconds: float, limit: str) -> dict[str, Any]:
        """Send a request and wait for its answer.

        Args:
            request: what to do, fit for JSON.
            seconds: to wait at most; then the process is killed.
            limit: what to say then.

        Raises:
            ProcessFailedError: no answer came, whatever the reason.
        """
        self.send(request)
        return self.answer(seconds, limit)

    def send(self, request: Mapping[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError):  # it has ended, which the answer will tell
            self._input.write(json.dumps(request).encode() + b"\n")
            self._input.flush()

    def answer(self, seconds: float, limit: str) -> dict[str, Any]:
        """The next line that it writes; see :meth:`ask`."""
        deadline = time.perf_counter() + seconds
        while b"\n" not in self._heard:
            # Once the process has ended, take what is still in its pipes and wait for no more:
            # a grandchild may hold them open.
            timeout = 0.0 if self._ended else max(deadline - time.perf_counter(), 0.0)
            events = self._selector.select(timeout)
            if not self._ended and time.perf_counter() > deadline:
                self.kill()
                raise ProcessFailedError("timeout", limit, self._tail())
            if not events and self._ended:
                raise self._diagnosis()
            for key, _ in events:
                self._take(key.fd)
        line, _, self._heard = self._heard.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        if "failure" in message:
            failure = message["failure"]
            self._hear_out()
            raise ProcessFailedError(failure["status"], failure["message"], self._tail())
        return message

    def kill(self) -> None:
        """End it and all that it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        self.kill()
        self._process.wait()
        self._selector.close()
        with contextlib.suppress(BrokenPipeError):
            self._input.close()
        self._output.close()
        os.close(self._channel)
        os.close(self._end)

    def _hear_out(self) -> None:
        """Take what a process prints on its way out."""
        deadline = time.perf_counter() + LAST_WORDS
        while events := self._selector.select(0.0 if self._ended else LAST_WORDS):
            for key, _ in events:
                self._take(key.fd)
            if time.perf_counter() > deadline:
                return

    def _take(self, fd: int) -> None:
        if fd == self._end:
            self._ended = True
            self._selector.unregister(fd)
        elif not (chunk := os.read(fd, READ_BYTES)):
            self._selector.unregister(fd)
        elif fd == self._channel:
            self._heard += chunk
        else:
            self._printed = (self._printed + chunk)[-TAIL_BYTES:]

    def _tail(self) -> str:
        return self._printed.decode(errors="replace").strip()

    def _diagnosis(self) -> ProcessFailedError:
        code = self._process.wait()
        if code < 0:
            hint = "; the kernel may have run out of memory" if -code == signal.SIGKILL else ""
            message = f"killed by signal {-code} ({_signal_name(-code)}){hint}"
            return ProcessFailedError("crashed", message, self._tail())
        message = f"the process ended with exit code {code} and no result"
        return ProcessFailedError("exited", message, self._tail())


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
