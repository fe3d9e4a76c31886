"""Set-up and steps of a method apart, where it offers them."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch

from pacbench.method import Method

ROUNDS = 3


class Stages:
    """Times what a method yields from ``stages``; stages of one name are added to one list."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.seconds: dict[str, list[float]] = {}

    def time(self, method: Method, inputs: Any) -> None:
        """Go through the stages a few times; nothing for a method that has none."""
        for _ in range(ROUNDS):
            stages = method.stages(inputs)
            if stages is None:
                return
            start = self._now()
            for name in stages:
                end = self._now()
                self.seconds.setdefault(name, []).append(end - start)
                start = self._now()

    def medians(self) -> dict[str, float]:
        """Seconds of each stage."""
        return {name: float(np.median(times)) for name, times in self.seconds.items()}

    def _now(self) -> float:
        if self.device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()
