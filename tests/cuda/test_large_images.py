"""Arrays of more than 2³¹ elements, which take 64-bit offsets."""

from __future__ import annotations

import pytest
import torch

from pacbench import kernels
from pacbench.kernels import _cuda


@pytest.mark.cuda
def test_last_pixels_of_a_large_image() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    if _cuda.library is None:
        pytest.skip(_cuda.why_missing)
    free, _ = torch.cuda.mem_get_info()
    if free < 14 << 30:
        pytest.skip(f"only {free >> 20} MiB of GPU memory are free, the test takes 14 GiB")
    size, corner = (32768, 22000), (..., slice(-24, None), slice(-40, None))
    image = torch.randn(1, 4, *size, device="cuda", dtype=torch.float16)
    guide = torch.randn(1, 1, *size, device="cuda", dtype=torch.float16)
    weight = torch.randn(3, 4, 3, 3, device="cuda", dtype=torch.float16)
    output = kernels.pac_conv2d(image, guide, weight, padding=1, backend="native")
    alone = kernels.pac_conv2d(image[corner], guide[corner], weight, padding=1, backend="reference")
    torch.testing.assert_close(
        output[corner][..., 1:, 1:], alone[..., 1:, 1:], rtol=1e-2, atol=5e-2
    )
