"""The upsampling networks: native against reference backend, PAC-lite against DJF.

480×640 at 4×, one depth map, float32, two threads; a training step on a 256×256 crop.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from pacbench.baselines.upsampling.djf import DJF
from pacbench.pac import PacJointUpsample, PacJointUpsampleLite

pytestmark = [pytest.mark.usefixtures("two_threads"), pytest.mark.timeout(600)]

FACTOR = 4
BACKENDS = ("native", "reference")


def inputs(height: int, width: int) -> tuple[Tensor, Tensor]:
    low = torch.rand(1, 1, height // FACTOR, width // FACTOR)
    return low, torch.rand(1, 3, height, width)


def step(network: nn.Module, low: Tensor, guide: Tensor) -> None:
    """Forward, loss and gradients of all weights."""
    loss = network(low, guide).square().mean()
    torch.autograd.grad(loss, list(network.parameters()))


def test_forward(bars: Any) -> None:
    images = inputs(480, 640)
    networks = {name: PacJointUpsample(FACTOR, backend=name) for name in BACKENDS}
    with torch.inference_mode():
        times = bars.race({n: lambda n=n: networks[n](*images) for n in BACKENDS}, seconds=12)
    ratio = times["native"] / times["reference"]
    assert bars.judge("PAC, 480×640 at 4×, native / reference", ratio, 0.5)


def test_lite_against_djf(bars: Any) -> None:
    images = inputs(480, 640)
    networks = {"lite": PacJointUpsampleLite(FACTOR, backend="native"), "djf": DJF(FACTOR)}
    with torch.inference_mode():
        times = bars.race({n: lambda n=n: networks[n](*images) for n in networks})
    assert bars.judge("PAC-lite / DJF, 480×640 at 4×", times["lite"] / times["djf"], 1.0)


def test_training_step(bars: Any) -> None:
    images = inputs(256, 256)
    networks = {name: PacJointUpsample(FACTOR, backend=name) for name in BACKENDS}
    times = bars.race({n: lambda n=n: step(networks[n], *images) for n in BACKENDS}, seconds=12)
    ratio = times["native"] / times["reference"]
    assert bars.judge("PAC, training step at 256×256, native / reference", ratio, 0.6)


# In a process of its own: what another call has left behind would hide the peak.
MEMORY = """
import sys

import torch

from pacbench.pac import PacJointUpsample
from pacbench.timing.memory import peak_beyond_inputs

torch.set_num_threads(2)
network = PacJointUpsample(4, backend=sys.argv[1])
low, guide = torch.rand(1, 1, 120, 160), torch.rand(1, 3, 480, 640)
with torch.inference_mode():
    print(peak_beyond_inputs(lambda: network(low, guide), "cpu")[1])
"""


def test_peak_memory(bars: Any) -> None:
    def peak(backend: str) -> float:
        run = subprocess.run(
            [sys.executable, "-c", MEMORY, backend], capture_output=True, text=True, check=True
        )
        return float(run.stdout)

    ratio = bars.once(lambda: peak("native") / peak("reference"))
    assert bars.judge("PAC, 480×640 at 4×, peak memory native / reference", ratio, 0.35)
