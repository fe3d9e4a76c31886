"""The process that runs one cell: ``python -m pacbench.worker FD PARENT``, requests on stdin.

Whatever a method does to its process (crash, hang, leak, print) stays here. Requests and answers
are JSON lines, the answers on the pipe FD:

- ``{"cell": …, "pictures": …, "score": …}`` → ``{"ready": true}`` once everything is imported;
- ``{"open": true}`` → ``{"samples": n}``, the method built and the data opened;
- ``{"sample": i, "calls": n | null}`` → ``{"calls": n}``, the sample prepared, run and scored, and
  the method warm;
- ``{"block": calls}`` → ``{"seconds": of one call, "switches": n}``;
- ``{"finish": true}`` → ``{"outcome": …}``;
- and at any of them ``{"failure": …}``, after which the process ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import resource
import signal
import sys
import time
import traceback
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from PIL import Image

from pacbench.data.base import Sample, datasets
from pacbench.method import methods
from pacbench.process import Status
from pacbench.record import ImageScore, Outcome
from pacbench.suite.cells import Cell
from pacbench.tasks import tasks
from pacbench.tasks.base import Pictures
from pacbench.timing.blocks import (
    SPINNING,
    Run,
    calls_per_block,
    no_garbage_collection,
    warm_up,
)
from pacbench.timing.device_clock import as_timed, clock_for
from pacbench.timing.memory import peak_beyond_inputs
from pacbench.timing.stages import Stages

PR_SET_PDEATHSIG = 1
SHORT_BLOCK = 0.02  # seconds; in a longer one a cold start does not count


class NotFiniteError(Exception):
    """A method returned NaN or Inf."""


class Kept(NamedTuple):
    """The pictures of a sample, and the number of edges in its truth."""

    edges: int
    sample: str
    pictures: Pictures


class Bench:
    """A cell in this process: its method, its data, and the sample that is being timed.

    Args:
        cell: what to run.
        pictures: folder for what is kept to look at.
        score: whether outputs are scored, or only timed.
    """

    def __init__(self, cell: Cell, pictures: Path, score: bool) -> None:
        torch.set_num_threads(cell.threads)
        torch.manual_seed(cell.seed)
        dataset_class, method_class = datasets[cell.data.name], methods[cell.method]
        self.cell, self.pictures, self.score = cell, pictures, score
        self.dataset = dataset_class(
            dataset_class.Params(**cell.data.params), split=cell.data.split, seed=cell.seed
        )
        self.count = min(len(self.dataset), cell.data.limit or len(self.dataset))
        self.example = self.dataset[0]
        context = cell.context(self.example)
        self.task = tasks[cell.task](self.example, context.protocol)
        self.method = method_class(method_class.Params(**cell.params), context)
        self.clock = clock_for(cell.device)
        self.stages = Stages(cell.device)
        self.images: list[ImageScore] = []
        self.costs: list[Any] = []
        self._kept: list[Kept] = []
        self.memory: int | None = None
        self.run: Run = lambda: None
        self._last_block = 0.0
        self._no_garbage = contextlib.ExitStack()

    def begin(self, index: int, calls: int | None) -> int:
        """Prepare a sample, score its output, get warm; the calls that make a block of it."""
        self._no_garbage.close()
        sample = self.dataset[index] if index else self.example
        inputs = self.method.prepare(sample)
        run = partial(self.method.run, inputs)
        if index == 0 and self.score:
            output, self.memory = peak_beyond_inputs(run, self.cell.device)
        else:
            output = run()
        if self.score:
            self._score(sample, output)
            self.stages.time(self.method, inputs)
            self.costs.append(self.method.cost(inputs))
        del output
        self.run = as_timed(run, self.clock, self.cell.timing.cuda_graphs)
        self._no_garbage.enter_context(no_garbage_collection())
        if index == 0:
            estimate = warm_up(self.clock, self.run, self.cell.warmup)
        elif calls is None:
            estimate = self.clock.seconds(self.run, 1)
        if calls is None:
            calls = calls_per_block(self.clock, self.run, estimate)
        return calls

    def block(self, calls: int) -> dict[str, Any]:
        """Time a block; seconds of one call, and how often the kernel interrupted."""
        if self._last_block < SHORT_BLOCK:
            self.run()  # the caches hold what another worker left
        before = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
        self._last_block = self.clock.seconds(self.run, calls)
        switches = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw - before
        if self.cell.threads > 1:
            time.sleep(SPINNING)
        return {"seconds": self._last_block / calls, "switches": switches}

    def outcome(self) -> Outcome:
        """What was measured; pictures are written now, when all samples have been seen."""
        for kept in self._kept:
            save_pictures(kept.pictures, self.pictures / kept.sample, self.cell.id)
        return Outcome(
            protocol=f"{self.dataset.protocol}; {self.task.protocol}",
            metrics=_defined(self.task.summary()) if self.score else {},
            images=self.images,
            memory=self.memory,
            cost=next((cost for cost in self.costs if cost is not None), None),
            architecture=self.method.architecture(),
            weights_sha256=getattr(self.method, "weights_sha256", None),
            stages=self.stages.medians(),
        )

    def _score(self, sample: Sample, output: Any) -> None:
        array = self.method.finish(output)
        if not np.isfinite(array).all():
            raise NotFiniteError(
                f"{(~np.isfinite(array)).sum():,} of {array.size:,} values of the output for "
                f"sample '{sample.name}' are NaN or Inf"
            )
        metrics = _defined(self.task.score(array, sample))
        image = ImageScore(name=sample.name, metrics=metrics, counts=self.task.counts())
        self.images.append(image)
        self._keep(sample, array)

    def _keep(self, sample: Sample, output: Any) -> None:
        """Hold the pictures of the samples whose truth has the most edges.

        There methods differ most; the data alone decide, so that all cells keep the same samples.
        """
        edges, most = self.task.edges(sample), self.cell.pictures
        if len(self._kept) < most or (most and edges > self._kept[-1].edges):
            kept = Kept(edges, sample.name, self.task.pictures(output, sample))
            self._kept = sorted([*self._kept, kept], key=lambda each: -each.edges)[:most]


def _defined(metrics: dict[str, float]) -> dict[str, float]:
    """Without those that this data leaves undefined (NaN), which JSON cannot hold."""
    return {name: value for name, value in metrics.items() if not math.isnan(value)}


def save_pictures(pictures: Pictures, folder: Path, cell_id: str) -> None:
    """Colours as ``.png``, maps as ``.npy``; the output is named after the cell."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures.items():
        stem = cell_id if name == "output" else name
        if picture.dtype == np.uint8:
            Image.fromarray(picture).save(folder / f"{stem}.png")
        else:
            np.save(folder / f"{stem}.npy", picture)


def limit_memory(gigabytes: float) -> None:
    """Let this process allocate at most so much more than it holds now."""
    held = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (held + int(gigabytes * 2**30), hard))


def die_with_parent(parent: int) -> None:
    """Be killed when the runner is, so that no cell goes on unseen."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it went before we asked
        os._exit(1)


def classify(error: BaseException) -> Status:
    """What a raised error means for the record."""
    if isinstance(error, NotFiniteError):
        return "not_finite"
    if isinstance(error, SystemExit):
        return "exited"
    no_memory = ("can't allocate memory", "out of memory", "bad_alloc", "insufficient memory")
    if isinstance(error, MemoryError) or any(words in str(error).lower() for words in no_memory):
        return "out_of_memory"
    return "error"


def serve(bench: Bench, request: dict[str, Any]) -> dict[str, Any]:
    """The answer to one request."""
    match request:
        case {"sample": index, "calls": calls}:
            return {"calls": bench.begin(index, calls)}
        case {"block": calls}:
            return bench.block(calls)
        case {"finish": _}:
            return {"outcome": bench.outcome().model_dump(mode="json")}
    raise ValueError(f"no such request: {request}")


def main(arguments: list[str]) -> None:
    channel_fd, parent = int(arguments[0]), int(arguments[1])
    die_with_parent(parent)
    with os.fdopen(channel_fd, "w", encoding="utf-8") as channel:

        def send(message: dict[str, Any]) -> None:
            channel.write(json.dumps(message, allow_nan=False) + "\n")
            channel.flush()

        first = json.loads(sys.stdin.readline())
        cell = Cell.model_validate(first["cell"])
        list(methods), list(datasets), list(tasks)  # importing them is not the cell's work
        send({"ready": True})
        try:
            sys.stdin.readline()  # {"open": true}
            limit_memory(cell.limits.memory_gb)
            with torch.inference_mode():
                bench = Bench(cell, Path(first["pictures"]), first["score"])
                send({"samples": bench.count})
                for line in sys.stdin:
                    send(serve(bench, json.loads(line)))
        except BaseException as error:
            _, hard = resource.getrlimit(resource.RLIMIT_DATA)
            resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))  # room to say what happened
            traceback.print_exc()
            message = f"{type(error).__name__}: {error}".strip(": ")
            send({"failure": {"status": classify(error), "message": message[:2000]}})


if __name__ == "__main__":
    main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # everything is sent; taking torch down in order would be time for nothing
