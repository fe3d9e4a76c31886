"""Small samples with depth and flow, and methods built for a protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from pacbench.data.base import Sample, datasets
from pacbench.method import Context, Method, methods
from pacbench.protocols import UpsampleProtocol


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def sample() -> Sample:
    """A scene of a size that no factor divides."""
    scenes = datasets["scenes"]
    return scenes(scenes.Params(size=(50, 67), unary=None), split="val", seed=0)[0]


@pytest.fixture
def build(sample: Sample) -> Callable[..., Method]:
    """A method by name, for a protocol."""

    def built(name: str, backend: str = "", params: Any = None, **protocol: Any) -> Method:
        cls = methods[name]
        context = Context(
            "cpu", backend or cls.info.backends[-1], 1, 0, sample, UpsampleProtocol(**protocol)
        )
        return cls(cls.Params(**(params or {})), context)

    return built
