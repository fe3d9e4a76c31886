"""One side of a comparison: ``python -P agent.py FD PARENT``, requests on stdin.

This file is run by path in the environment of either side, so that both are measured by the same
code whatever version of the package they hold. Of the package under test it uses no more than the
protocol of methods. Requests and answers are JSON lines, the answers on the pipe FD:

- ``{"benchmarks": […], "cores": […]}`` → ``{"ready": folder of the package}``, bound to the cores,
  or with ``"kernels": prefix`` for ``"cores"``, callgrind watching functions of such names;
- ``{"begin": i, "calls": n | null}`` → ``{"calls": n}``, benchmark i built and warm, or
  ``{"missing": reason}`` where this version does not have it;
- ``{"price": calls}`` → ``{"price": share}``, by which a unit of extra work slows such a block;
- ``{"block": calls, "units": n}`` → ``{"seconds": of one call}``, with so much extra work;
- ``{"count": i}`` → ``{"counted": i}``, a call of benchmark i, or ``{"missing": reason}``.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import json
import os
import signal
import sys
import time
import traceback
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

PR_SET_PDEATHSIG = 1
PRICE_SECONDS = 1.0
GUESS = 500
COUNTS = 3
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
NEVER = 1 << 30


def _load(path: str) -> ModuleType:
    """Code that lies beside this file, not that of the version under test."""
    file = Path(__file__).parents[1] / path
    spec = importlib.util.spec_from_file_location(f"pacbench_gate_{file.stem}", file)
    assert spec is not None  # noqa: S101, a file with that ending has one
    assert spec.loader is not None  # noqa: S101, as above
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


blocks = _load("timing/blocks.py")
callgrind = _load("gate/callgrind.py")


class Missing(Exception):  # noqa: N818, not an error: a benchmark can be younger than a baseline
    """This version does not have what a benchmark asks for."""


class ExtraWork:
    """Real work to slow a call down with: additions of two small arrays."""

    def __init__(self) -> None:
        self._left, self._right = np.ones(1024, np.float32), np.ones(1024, np.float32)
        self._sum = np.empty(1024, np.float32)

    def do(self, units: int) -> None:
        for _ in range(units):
            np.add(self._left, self._right, out=self._sum)


class Side:
    """The benchmarks in this process and the one that is being timed."""

    def __init__(self, benchmarks: list[dict[str, Any]]) -> None:
        self.benchmarks = benchmarks
        self.clock: Any = blocks.HostClock()
        self.extra = ExtraWork()
        self.run: Any = None
        self.callgrind: Any = None
        self._no_garbage = contextlib.ExitStack()

    def begin(self, index: int, calls: int | None) -> int:
        """Build a benchmark and get it warm; the calls that make a block of it."""
        self._no_garbage.close()
        benchmark = self.benchmarks[index]
        torch.set_num_threads(benchmark["threads"])
        torch.manual_seed(benchmark["seed"])
        self.run = _build(benchmark)
        self._no_garbage.enter_context(blocks.no_garbage_collection())
        estimate = blocks.warm_up(self.clock, self.run, 3)
        return calls or blocks.calls_per_block(self.clock, self.run, estimate)

    def block(self, calls: int, units: int) -> float:
        """Seconds of one call in a block, after one that brings the caches back."""
        self.run()
        seconds = float(self.clock.seconds(partial(self._block, calls, units), 1))
        if torch.get_num_threads() > 1:
            time.sleep(blocks.SPINNING)
        return seconds / calls

    def count(self, index: int) -> None:
        """Have callgrind count a call of a benchmark that is warm, some times, on one thread."""
        benchmark = {**self.benchmarks[index], "threads": 1}
        torch.set_num_threads(1)
        torch.manual_seed(benchmark["seed"])
        run = _build(benchmark)
        run()
        for _ in range(COUNTS):
            self.callgrind.start()
            run()
            self.callgrind.stop(str(index))

    def price(self, calls: int) -> float:
        """By what share of a block a unit of extra work slows it down.

        Taken from so much of it that the block takes about twice as long, timed in turn.
        """
        units = max(1, round(GUESS / self._added(calls, GUESS)))
        return self._added(calls, units) / units

    def _added(self, calls: int, units: int) -> float:
        shares = []
        end = time.perf_counter() + PRICE_SECONDS
        while time.perf_counter() < end:
            shares.append(self.block(calls, units) / self.block(calls, 0) - 1)
        return max(float(np.median(shares)), 0.01)

    def _block(self, calls: int, units: int) -> None:
        for _ in range(calls):
            self.run()
        self.extra.do(units)


def keep_freed_memory() -> None:
    """Have the allocator give nothing back to the kernel, where it is the C library's own.

    Whether a freed array returns to the kernel, and costs page faults when it is needed again, is
    a matter of luck that differs by up to a tenth between processes of the same program.
    """
    with contextlib.suppress(AttributeError):
        allocator = ctypes.CDLL(None)
        allocator.mallopt(M_TRIM_THRESHOLD, NEVER)
        allocator.mallopt(M_MMAP_THRESHOLD, NEVER)


def _build(benchmark: dict[str, Any]) -> Any:
    """The call to time, from the package under test."""
    from pacbench.data.base import datasets
    from pacbench.method import Context, methods

    name, data = benchmark["method"], benchmark["data"]
    if name not in methods or data["name"] not in datasets:
        raise Missing(f"it has no method '{name}' or no dataset '{data['name']}'")
    dataset_class, method_class = datasets[data["name"]], methods[name]
    try:
        dataset = dataset_class(
            dataset_class.Params(**data["params"]), split=data["split"], seed=benchmark["seed"]
        )
        params = method_class.Params(**benchmark["params"])
    except ValueError as error:
        raise Missing(f"its parameters are others: {error}") from None
    sample = dataset[0]
    context = Context(
        benchmark["device"], benchmark["backend"], benchmark["threads"], benchmark["seed"], sample
    )
    method = method_class(params, context)
    return partial(method.run, method.prepare(sample))


def serve(side: Side, request: dict[str, Any]) -> dict[str, Any]:
    """The answer to one request; raises ``Missing``."""
    match request:
        case {"begin": index, "calls": calls}:
            return {"calls": side.begin(index, calls)}
        case {"block": calls, "units": units}:
            return {"seconds": side.block(calls, units)}
        case {"price": calls}:
            return {"price": side.price(calls)}
        case {"count": index}:
            side.count(index)
            return {"counted": index}
    raise ValueError(f"no such request: {request}")


def main(arguments: list[str]) -> None:
    channel_fd, parent = int(arguments[0]), int(arguments[1])
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it went before we asked
        os._exit(1)
    with os.fdopen(channel_fd, "w", encoding="utf-8") as channel:

        def send(message: dict[str, Any]) -> None:
            channel.write(json.dumps(message, allow_nan=False) + "\n")
            channel.flush()

        try:
            first = json.loads(sys.stdin.readline())
            side = Side(first["benchmarks"])
            if "kernels" in first:
                side.callgrind = callgrind.Callgrind()
                side.callgrind.watch(first["kernels"])
            else:
                os.sched_setaffinity(0, first["cores"])
            keep_freed_memory()
            import pacbench.method

            list(pacbench.method.methods)
            send({"ready": str(Path(pacbench.method.__file__).parent)})
            with torch.inference_mode():
                for line in sys.stdin:
                    try:
                        send(serve(side, json.loads(line)))
                    except Missing as reason:
                        send({"missing": str(reason)})
        except BaseException as error:
            traceback.print_exc()
            message = f"{type(error).__name__}: {error}".strip(": ")
            send({"failure": {"status": "error", "message": message[:2000]}})


if __name__ == "__main__":
    main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
