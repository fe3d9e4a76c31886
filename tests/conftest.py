"""What all tests share: the same random numbers every time."""

from __future__ import annotations

import pytest
import torch
from hypothesis import settings

settings.register_profile("pacbench", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("pacbench")


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)
