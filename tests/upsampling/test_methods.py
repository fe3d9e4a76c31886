"""Every upsampling method, at sizes that the factor does not divide, for depth and flow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from pacbench.data.base import Sample
from pacbench.errors import UserError
from pacbench.method import LearnableMethod, Method, methods
from pacbench.tasks.upsample import UpsampleTask

Build = Callable[..., Method]
NAMES = [name for name in methods if methods[name].info.task == "upsample"]
NETWORKS = [name for name in NAMES if methods[name].info.learnable]
FACTORS = {"dmsg": (2, 4, 8, 16), "pac": (2, 4, 8, 16), "pac_lite": (4, 8, 16)}
"""Of networks that do not grow by any."""

CASES = [
    {"target": "depth", "factor": 4},
    {"target": "flow", "factor": 8, "mode": "bilinear"},
    {"target": "flow", "factor": 4, "mode": "bilinear", "joint_channels": True},
]


@pytest.mark.parametrize("protocol", CASES, ids=lambda p: f"{p['target']}-x{p['factor']}")
@pytest.mark.parametrize("name", NAMES)
def test_any_size_and_target(
    build: Build, sample: Sample, name: str, protocol: dict[str, object]
) -> None:
    method = build(name, **protocol)
    with torch.inference_mode():
        output = method.finish(method.run(method.prepare(sample)))
    assert output.shape == (1 if protocol["target"] == "depth" else 2, 50, 67)
    assert np.isfinite(output).all()
    scores = UpsampleTask(sample, method.protocol).score(output, sample)
    assert all(value >= 0 for value in scores.values())


@pytest.mark.parametrize("size", [(1, 1), (1, 7), (7, 1), (3, 5), (17, 33)])
@pytest.mark.parametrize("factor", [3, 16])
@pytest.mark.parametrize("name", NAMES)
def test_the_smallest_and_the_longest_maps(
    build: Build, sample: Sample, name: str, factor: int, size: tuple[int, int]
) -> None:
    """By every backend; a network that cannot grow by a factor says so."""
    assert sample.depth is not None
    corner = np.s_[..., : size[0], : size[1]]
    small = replace(
        sample, image=sample.image[corner], depth=sample.depth[corner], labels=None, flow=None
    )
    for backend in methods[name].info.backends:
        if factor not in FACTORS.get(name, (factor,)):
            with pytest.raises(ValueError, match=f"factor is {factor}"):
                build(name, backend, factor=factor)
            continue
        method = build(name, backend, factor=factor)
        with torch.inference_mode():
            output = method.finish(method.run(method.prepare(small)))
        assert output.shape == (1, *size)
        assert np.isfinite(output).all()


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_tell_what_they_are_made_of_and_cost(
    build: Build, sample: Sample, name: str
) -> None:
    method = build(name, factor=4)
    assert isinstance(method, LearnableMethod)
    architecture = method.architecture()
    assert architecture.parameters == sum(p.numel() for p in method.module.parameters())
    assert architecture.layers
    inputs = method.prepare(sample)
    cost = method.cost(inputs)
    numbers = inputs.low.numel() * (1 + 16) + inputs.guide.numel() + architecture.parameters
    assert cost.bytes == 4 * numbers
    assert cost.flops > 2 * architecture.parameters


def test_cost_counts_multiply_adds_twice(build: Build, sample: Sample) -> None:
    """DJF has no biases to speak of and all of its layers at full size: 2 × weights × pixels."""
    method = build("djf", factor=4)
    inputs = method.prepare(sample)
    weights = sum(p.numel() for p in method.module.parameters() if p.ndim == 4)
    pixels = inputs.guide.shape[2] * inputs.guide.shape[3]
    assert method.cost(inputs).flops == 2 * weights * pixels


def test_not_every_network_can_begin_as_a_filter(build: Build) -> None:
    start = {"start": "filter"}
    assert isinstance(build("pac", params=start, factor=4), LearnableMethod)
    with pytest.raises(UserError, match="'DMSG' cannot start as a filter"):
        build("dmsg", params=start, factor=4)


def test_weights_are_found_by_target_and_factor(build: Build, tmp_path: Path) -> None:
    trained = build("djf", target="flow", factor=8)
    torch.save(trained.module.state_dict(), tmp_path / "flow-8.pt")
    params = {"weights": str(tmp_path / "{target}-{factor}.pt")}
    torch.manual_seed(1)
    again = build("djf", params=params, target="flow", factor=8)
    for ours, theirs in zip(again.module.parameters(), trained.module.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)
    with pytest.raises(UserError, match=r"weights '.*flow-4.pt': no such file"):
        build("djf", params=params, target="flow", factor=4)
