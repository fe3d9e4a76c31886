"""Numbers too small for full precision: the kernels take them for 0, and only they do."""

from __future__ import annotations

import pytest
import torch

from pacbench import kernels

TINY = 1e-39  # below the least normal float, 1.2e-38


@pytest.mark.parametrize("operator", ["conv", "pool", "lattice"])
def test_subnormals_count_as_zero_in_kernels_and_nowhere_else(operator: str) -> None:
    image = torch.full((1, 2, 6, 7), TINY)
    assert float(image[0, 0, 0, 0]) > 0
    guide = torch.zeros(1, 1, 6, 7)
    if operator == "conv":
        output = kernels.pac_conv2d(image, guide, torch.ones(2, 2, 3, 3), backend="native")
    elif operator == "pool":
        output = kernels.pac_pool2d(image, guide, 3, backend="native")
    else:
        output = kernels.permutohedral_filter(torch.zeros(1, 2, 6, 7), image, backend="native")
    assert not output.any()
    assert (image * 0.5).all()  # the thread's own mode is as it was


def test_a_kernel_that_would_be_subnormal_is_zero() -> None:
    guide = torch.tensor([0.0, 13.3]).reshape(1, 1, 1, 2)  # exp(-13.3 ** 2 / 2) = 3.8e-39
    plain, native = (
        kernels.adapting_kernel(guide, (1, 3), 1, (0, 1), backend=backend).flatten().tolist()
        for backend in ("reference", "native")
    )
    assert plain == pytest.approx([1, 3.88e-39, 1, 1, 3.88e-39, 3.88e-39], rel=1e-2, abs=0)
    assert native == [1, 0, 1, 1, 0, 0]
