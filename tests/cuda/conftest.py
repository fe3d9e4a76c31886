"""The device under test: an emulated one, and a GPU where there is one."""

from __future__ import annotations

import pytest
import torch
from targets import CUDA, EMULATED, use


@pytest.fixture(params=[EMULATED, pytest.param(CUDA, marks=pytest.mark.cuda)])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where tensors are for the CUDA library to take them: the emulated one takes CPU tensors."""
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)  # too coarse to compare with
    return use(request.param, torch.float32, monkeypatch).device
