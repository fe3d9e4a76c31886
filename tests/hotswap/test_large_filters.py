"""Filters of hundreds of channels, which native tiles share: as the reference computes them."""

from __future__ import annotations

import pytest
import torch

from pacbench import kernels

able, why_not = kernels.can_run([torch.zeros(1)])
pytestmark = pytest.mark.skipif(not able, reason=why_not)


# (batch, input and output channels, height, width, stride, dilation, channels of K)
@pytest.mark.parametrize(
    "shape",
    [
        pytest.param((1, 256, 256, 12, 63, 1, 1, 1), id="a-short-last-tile"),
        pytest.param((2, 200, 300, 9, 50, 1, 2, 1), id="not-whole-panels-dilated"),
        pytest.param((1, 150, 520, 17, 33, 2, 1, 1), id="strided"),
        pytest.param((1, 140, 256, 5, 20, 1, 1, 140), id="a-kernel-per-channel"),
    ],
)
@pytest.mark.usefixtures("one_thread")
def test_agrees_with_the_reference(shape: tuple[int, ...]) -> None:
    batch, inputs, outputs, height, width, stride, dilation, channels = shape
    image, guide = torch.randn(batch, inputs, height, width), torch.randn(batch, 4, height, width)
    weight, bias = torch.randn(outputs, inputs, 3, 3) / 30, torch.randn(outputs)
    window = (stride, dilation, dilation)
    kernel = kernels.adapting_kernel(guide, 3, *window, backend="reference")
    kernel = kernel * torch.rand(batch, channels, 1, 1, 1, 1)

    results = {}
    for backend in ("native", "reference"):
        leaves = [tensor.clone().requires_grad_() for tensor in (image, kernel, weight)]
        output = kernels.pacconv2d(*leaves, bias, *window, backend=backend)
        gradients = torch.autograd.grad(output.square().sum(), leaves)
        fused = kernels.pac_conv2d(image, guide, weight, bias, *window, backend=backend)
        results[backend] = [output, fused, *gradients]
    for ours, expected in zip(results["native"], results["reference"], strict=True):
        error = (ours - expected).abs().max() / expected.abs().max()
        assert error < 1e-5
