"""How much memory a native forward takes at its peak, in a fresh process."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

# Linux keeps the peak of the resident memory and forgets it on request. A small call first brings
# in code and starts threads; what remains is the images, the result and scratch space.
PROGRAM = """
import sys
from pathlib import Path

import torch

from pacbench import kernels


def resident(line):
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(s.split()[1]) * 1024 for s in status if s.startswith(line))


def arguments(fused, channels, height, width):
    image = torch.randn(1, channels, height, width)
    other = torch.rand((1, 3, height, width) if fused else (1, 1, 5, 5, height, width))
    return image, other, torch.randn(channels, channels, 5, 5)


torch.set_num_threads(2)
fused = sys.argv[1] == "fused"
run = kernels.pac_conv2d if fused else kernels.pacconv2d
run(*arguments(fused, 21, 8, 8), padding=32, dilation=16, backend="native")
tensors = arguments(fused, 21, 375, 500)
before = resident("VmRSS")
Path("/proc/self/clear_refs").write_text("5")
output = run(*tensors, padding=32, dilation=16, backend="native")
peak = resident("VmHWM")
inputs = sum(t.nbytes for t in tensors)
print((inputs + peak - before) / (inputs + output.nbytes))
"""


@pytest.mark.parametrize("form", ["given", "fused"])
def test_peak_memory(bars: Any, form: str) -> None:
    def measure() -> float:
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM, form], capture_output=True, text=True, check=True
        )
        return float(run.stdout)

    figure = bars.once(measure)
    assert bars.judge(f"peak memory of a forward, K {form} / inputs + outputs", figure, 1.1)
