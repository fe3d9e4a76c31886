"""Memory, stages, formulas and the machine's peak."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from pacbench.data.base import Sample
from pacbench.method import Context, Method, methods
from pacbench.timing.cost import Cost
from pacbench.timing.memory import peak_beyond_inputs
from pacbench.timing.peak import Peak, measure
from pacbench.timing.stages import Stages

MEGABYTE = 2**20
OPERATORS = [name for name in methods if methods[name].info.task == "op"]


def test_peak_memory_is_that_of_the_call() -> None:
    def run() -> int:
        scratch = np.ones(64 * MEGABYTE, np.uint8)
        return int(scratch[:2].sum())

    output, peak = peak_beyond_inputs(run, "cpu")
    assert output == 2
    assert peak is not None
    assert 63 * MEGABYTE <= peak <= 80 * MEGABYTE


class Staged:
    """A method in two stages, the second of which comes twice."""

    def stages(self, inputs: list[str]) -> Iterator[str]:
        inputs.append("set-up")
        yield "set-up"
        for _ in range(2):
            inputs.append("step")
            yield "step"


def test_stages_are_timed_apart() -> None:
    stages, log = Stages("cpu"), []
    stages.time(Staged(), log)  # type: ignore[arg-type]
    assert log[:3] == ["set-up", "step", "step"]
    assert {name: len(times) for name, times in stages.seconds.items()} == {"set-up": 3, "step": 6}
    assert all(seconds >= 0 for seconds in stages.medians().values())


def sample_of(channels: int, height: int, width: int) -> Sample:
    random = np.random.default_rng(0)
    return Sample(
        name="a",
        image=random.integers(0, 256, (3, height, width), dtype=np.uint8),
        unary=random.standard_normal((channels, height, width), dtype=np.float32),
    )


def build(name: str, sample: Sample, backend: str | None = None) -> Method:
    cls = methods[name]
    return cls(cls.Params(), Context("cpu", backend or cls.info.backends[-1], 1, 0, sample))


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_run_and_know_their_cost(name: str) -> None:
    sample = sample_of(16, 12, 10)
    with torch.inference_mode():
        method = build(name, sample)
        inputs = method.prepare(sample)
        assert np.isfinite(method.finish(method.run(inputs))).all()
        cost = method.cost(inputs)
    assert cost is not None
    assert cost.bytes > 0
    assert method.stages(inputs) is None


def test_costs_follow_the_formulas() -> None:
    sample = sample_of(8, 10, 6)

    def cost(name: str) -> Cost:
        method = build(name, sample)
        found = method.cost(method.prepare(sample))
        assert found is not None
        return found

    pixels, taps, outputs = 60, 25, 16
    assert cost("conv2d").flops == 2 * 8 * outputs * taps * pixels
    assert cost("adapting_kernel").flops == (3 * 3 + 1) * taps * pixels
    assert cost("pacconv2d").flops == (1 + 2 * outputs) * 8 * taps * pixels
    assert cost("pac_conv2d").flops == cost("adapting_kernel").flops + cost("pacconv2d").flops
    assert cost("memory_copy").bytes == 2 * 4 * MEGABYTE


def test_the_roofline() -> None:
    peak = Peak(threads=1, flops_per_second=100.0, bytes_per_second=10.0)
    assert peak.least_seconds(Cost(flops=500.0, bytes=20.0)) == 5
    assert peak.least_seconds(Cost(flops=500.0, bytes=80.0)) == 8


def test_this_machine_has_a_peak() -> None:
    peak = measure(1)
    assert peak.threads == 1
    assert peak.flops_per_second > 1e8
    assert peak.bytes_per_second > 1e7
