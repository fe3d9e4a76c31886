"""A training on several devices: one process for each, started by ``torchrun``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn


@dataclass(frozen=True)
class Team:
    """The processes of a training: this one's number, and how many there are."""

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process writes the files and shows the progress."""
        return self.rank == 0

    def wrap(self, module: nn.Module) -> nn.Module:
        """The module as a step calls it: gradients become the mean over all processes."""
        if self.size == 1:
            return module
        # A CRF has weights that its form leaves unused, as those of a fixed weighting.
        return nn.parallel.DistributedDataParallel(module, find_unused_parameters=True)

    def agreed(self, value: float) -> float:
        """The first process's value, in every process."""
        if self.size == 1:
            return value
        values: list[float | None] = [value]
        dist.broadcast_object_list(values)
        return float(values[0] or 0.0)


@contextmanager
def joined_team(device: str) -> Iterator[Team]:
    """The team that ``torchrun`` made this process part of; else one of itself alone."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield Team()
        return
    if device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if device == "cuda" else "gloo")
    try:
        yield Team(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()
