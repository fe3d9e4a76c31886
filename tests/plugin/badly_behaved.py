"""Methods that do to a worker what native code, users and machines do to it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field

from pacbench.data.base import Sample
from pacbench.method import Context, Method, MethodInfo, MethodParams


class Params(MethodParams):
    number: int = Field(0, ge=0)
    seconds: float = 0.0


class Copies(Method):
    """Well behaved: returns the unaries, after ``seconds``."""

    info = MethodInfo(
        title="Copies",
        paper="none",
        year=2026,
        task="crf",
        learnable=False,
        backends=("reference", "native"),
    )
    Params = Params

    def __init__(self, params: Params, context: Context) -> None:
        self.seconds = params.seconds

    def prepare(self, sample: Sample) -> NDArray[np.float32]:
        assert sample.unary is not None
        return sample.unary

    def run(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        time.sleep(self.seconds)
        self.misbehave()
        return inputs.copy()

    def finish(self, output: Any) -> Any:
        return output

    def misbehave(self) -> None:
        pass


class Raises(Copies):
    def misbehave(self) -> None:
        raise RuntimeError("the lattice is full")


class Exits(Copies):
    def misbehave(self) -> None:
        sys.exit("enough")


class ExitsHard(Copies):
    def misbehave(self) -> None:
        os._exit(0)


class Killed(Copies):
    def misbehave(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class Segfaults(Copies):
    def misbehave(self) -> None:
        ctypes.string_at(0)


class Aborts(Copies):
    def misbehave(self) -> None:
        os.abort()


class Sleeps(Copies):
    def misbehave(self) -> None:
        time.sleep(600)


class PrintsALot(Copies):
    """Also never ends: a full pipe must not hide a passed deadline."""

    def misbehave(self) -> None:
        while True:
            print("x" * 10_000, flush=True)


class Allocates(Copies):
    def misbehave(self) -> None:
        held = []
        while True:
            held.append(torch.zeros(64, 2**20))


class ReturnsNaN(Copies):
    def run(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        output = inputs.copy()
        output[0, 0, 0] = np.nan
        return output


class LeavesAChild(Copies):
    """Raises while a child of its own holds the output pipe open."""

    def misbehave(self) -> None:
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        raise RuntimeError("left a child behind")
