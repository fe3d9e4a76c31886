"""What tests of the native operators share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from targets import ON_EVERY_LIBRARY, Target, use

from pacbench.kernels import _native


@pytest.fixture(params=_native.ISAS)
def isa(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Runs the test once with the library of every instruction set this processor has."""
    try:
        monkeypatch.setattr(_native, "library", _native.load(request.param))
    except OSError as reason:
        pytest.skip(str(reason))
    return str(request.param)


@pytest.fixture(params=ON_EVERY_LIBRARY)
def target(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Target:
    """What the native operators run on: each instruction set, emulated CUDA and a CUDA device."""
    return use(*request.param, monkeypatch)


@pytest.fixture
def threads() -> Iterator[None]:
    """Puts the number of threads back after the test."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)
