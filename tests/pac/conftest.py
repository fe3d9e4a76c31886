"""Both backends, as a fixture."""

from __future__ import annotations

import pytest
import torch

from pacbench.kernels import can_run


@pytest.fixture(params=["reference", "native"])
def backend(request: pytest.FixtureRequest) -> str:
    """Each backend in turn; native is skipped where its library could not be loaded."""
    able, why_not = can_run([torch.zeros(1)])
    if request.param == "native" and not able:
        pytest.skip(why_not)
    return str(request.param)
