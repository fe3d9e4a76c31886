"""The process that runs one cell: ``python -m pacbench.worker FD PICTURES PARENT``, cell on stdin.

Whatever a method does to its process (crash, hang, leak, print) stays here. The parent hears only
what is written to the pipe FD, one JSON object per line: ``{"ready": true}`` once everything is
imported, then ``{"outcome": …}`` or ``{"failure": …}``.
"""

from __future__ import annotations

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
from typing import Any

import numpy as np
import torch
from PIL import Image

from pacbench.data.base import datasets
from pacbench.method import Context, methods
from pacbench.record import ImageScore, Outcome, Status
from pacbench.suite.cells import Cell
from pacbench.tasks import tasks
from pacbench.timing import Timing, time_runs

PR_SET_PDEATHSIG = 1


class NotFiniteError(Exception):
    """A method returned NaN or Inf."""


def run_cell(cell: Cell, pictures: Path) -> Outcome:
    """Run a cell in this process: build, then prepare, run (timed) and score every sample."""
    start = time.perf_counter()
    torch.set_num_threads(cell.threads)
    torch.manual_seed(cell.seed)
    dataset_class, method_class = datasets[cell.data.name], methods[cell.method]
    dataset = dataset_class(
        dataset_class.Params(**cell.data.params), split=cell.data.split, seed=cell.seed
    )
    count = min(len(dataset), cell.data.limit or len(dataset))
    example = dataset[0]
    task = tasks[cell.task](example)
    method = method_class(
        method_class.Params(**cell.params),
        Context(cell.device, cell.backend, cell.threads, cell.seed, example),
    )
    images, seconds = [], []
    for index in range(count):
        sample = dataset[index] if index else example
        inputs = method.prepare(sample)
        for _ in range(0 if index else cell.warmup):
            method.run(inputs)
        runs, output = time_runs(partial(method.run, inputs), cell.repeats)
        array = method.finish(output)
        if not np.isfinite(array).all():
            raise NotFiniteError(
                f"{(~np.isfinite(array)).sum():,} of {array.size:,} values of the output for "
                f"sample '{sample.name}' are NaN or Inf"
            )
        seconds.append(runs)
        images.append(ImageScore(name=sample.name, metrics=_defined(task.score(array, sample))))
        if index < cell.pictures:
            _save_pictures(task.pictures(array, sample), pictures / sample.name, cell.id)
    return Outcome(
        protocol=task.protocol,
        metrics=_defined(task.summary()),
        images=images,
        timing=Timing.of(seconds),
        work_seconds=time.perf_counter() - start,
    )


def _defined(metrics: dict[str, float]) -> dict[str, float]:
    """Without those that this data leaves undefined (NaN), which JSON cannot hold."""
    return {name: value for name, value in metrics.items() if not math.isnan(value)}


def _save_pictures(pictures: dict[str, Any], folder: Path, cell_id: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures.items():
        path = folder / f"{cell_id if name == 'output' else name}.png"
        Image.fromarray(picture).save(path)


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


def main(arguments: list[str]) -> None:
    channel_fd, pictures, parent = int(arguments[0]), Path(arguments[1]), int(arguments[2])
    die_with_parent(parent)
    with os.fdopen(channel_fd, "w", encoding="utf-8") as channel:

        def send(message: dict[str, Any]) -> None:
            channel.write(json.dumps(message, allow_nan=False) + "\n")
            channel.flush()

        cell = Cell.model_validate_json(sys.stdin.read())
        list(methods), list(datasets), list(tasks)  # importing them is not the cell's work
        send({"ready": True})
        try:
            limit_memory(cell.limits.memory_gb)
            with torch.inference_mode():
                outcome = run_cell(cell, pictures)
            send({"outcome": outcome.model_dump(mode="json")})
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
    os._exit(0)  # the record is sent; taking torch down in order would be time for nothing
