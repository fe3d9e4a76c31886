"""Whole CRFs against each other and against their reference backend: time and memory.

375×500, 21 classes, 5 mean-field steps, set-up included, two threads.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from pacbench.data.base import Sample
from pacbench.method import Context, methods

pytestmark = [pytest.mark.usefixtures("two_threads"), pytest.mark.timeout(600)]

LABELS, SIZE = 21, (375, 500)
PAC_32: dict[str, Any] = {"dilations": [32]}
PAC_16_64: dict[str, Any] = {"dilations": [16, 64]}


@pytest.fixture(scope="module")
def sample() -> Sample:
    """Colours that change slowly, as in photographs: lattices of noise would be larger."""
    random = np.random.default_rng(0)
    y, x = np.mgrid[: SIZE[0], : SIZE[1]]
    waves = [127 + 90 * np.sin(x / 40 + k) * np.cos(y / 30 - k) for k in range(3)]
    image = np.stack(waves) + random.normal(scale=4, size=(3, *SIZE))
    unary = random.normal(size=(LABELS, *SIZE)).astype(np.float32)
    return Sample("waves", image.clip(0, 255).astype(np.uint8), unary=unary)


def runner(name: str, backend: str, sample: Sample, **params: Any) -> Callable[[], object]:
    cls = methods[name]
    method = cls(cls.Params(**params), Context("cpu", backend, 2, 0, sample))
    inputs = method.prepare(sample)

    def run() -> object:
        with torch.inference_mode():
            return method.run(inputs)

    return run


def test_pac_crf_against_full_crf(bars: Any, sample: Sample) -> None:
    times = bars.race(
        {
            "32": runner("pac_crf", "native", sample, **PAC_32),
            "16-64": runner("pac_crf", "native", sample, **PAC_16_64),
            "full": runner("full_crf", "pydensecrf", sample),
        }
    )
    bars.say(", ".join(f"{name}: {1e3 * seconds:.0f} ms" for name, seconds in times.items()))
    narrow = bars.judge("PAC-CRF 32 / Full-CRF (pydensecrf)", times["32"] / times["full"], 0.5)
    wide = bars.judge("PAC-CRF 16-64 / Full-CRF (pydensecrf)", times["16-64"] / times["full"], 1.0)
    assert narrow
    assert wide


@pytest.mark.parametrize(
    ("title", "name", "params", "bar"),
    [("PAC-CRF 16-64", "pac_crf", PAC_16_64, 0.12), ("Conv-CRF", "conv_crf", {}, 0.3)],
)
def test_native_against_reference(
    bars: Any, sample: Sample, title: str, name: str, params: dict[str, Any], bar: float
) -> None:
    backends = ("native", "reference")
    times = bars.race({b: runner(name, b, sample, **params) for b in backends}, least_rounds=2)
    bars.say(", ".join(f"{name}: {1e3 * seconds:.0f} ms" for name, seconds in times.items()))
    assert bars.judge(f"{title}, native / reference", times["native"] / times["reference"], bar)


MEMORY = """
import numpy as np
import torch

from pacbench.data.base import Sample
from pacbench.method import Context, methods
from pacbench.timing.memory import peak_beyond_inputs

torch.set_num_threads(2)
sample = Sample(
    "noise",
    np.random.default_rng(0).integers(0, 256, (3, 375, 500), dtype=np.uint8),
    unary=np.random.default_rng(0).normal(size=(21, 375, 500)).astype(np.float32),
)
cls = methods["pac_crf"]
method = cls(cls.Params(dilations=[16, 64]), Context("cpu", "native", 2, 0, sample))
inputs = method.prepare(sample)
with torch.inference_mode():
    _, peak = peak_beyond_inputs(lambda: method.run(inputs), "cpu")
print(peak / 1e6)
"""


def test_peak_memory(bars: Any) -> None:
    """In a fresh process; the two K alone are 37.5 MB, log Q and messages 15.75 MB each."""

    def measure() -> float:
        command = [sys.executable, "-c", MEMORY]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        return float(run.stdout)

    megabytes = bars.once(measure)
    assert bars.judge("PAC-CRF 16-64, peak memory beyond its inputs, MB", megabytes, 160)
