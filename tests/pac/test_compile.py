"""The layers under torch.compile, torch.export and autocast."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from pacbench.pac import PacConv2d, PacConvTranspose2d, PacPool2d

LAYERS = [
    pytest.param(lambda **o: PacConv2d(2, 3, 3, padding=1, **o), (6, 7), id="conv"),
    pytest.param(
        lambda **o: PacConv2d(
            2, 3, 3, padding=1, kernel_type="inv_0.3_2_asym", smooth_kernel_type="full_3", **o
        ),
        (6, 7),
        id="conv-inv",
    ),
    pytest.param(
        lambda **o: PacConvTranspose2d(2, 3, 3, 2, 1, 1, normalize_kernel=True, **o),
        (12, 14),
        id="transposed",
    ),
    pytest.param(lambda **o: PacPool2d(3, channel_wise=True, **o), (6, 7), id="pool"),
]


def inputs(guide_size: tuple[int, int]) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.rand(1, 2, 6, 7), torch.rand(1, 2, *guide_size)


def gradients(layer: nn.Module, call, image: torch.Tensor, guide: torch.Tensor) -> list:
    leaves = [image.clone().requires_grad_(), guide.clone().requires_grad_(), *layer.parameters()]
    output = call(*leaves[:2])
    return [output, *torch.autograd.grad(output.square().sum(), leaves)]


@pytest.mark.parametrize(("make", "guide_size"), LAYERS)
def test_compiled_layers_agree(make, guide_size, backend: str) -> None:
    torch.compiler.reset()
    layer = make(backend=backend)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    image, guide = inputs(guide_size)
    expected = gradients(layer, layer, image, guide)
    for value, eager in zip(gradients(layer, compiled, image, guide), expected, strict=True):
        torch.testing.assert_close(value, eager)


def test_compiled_with_a_mask(backend: str) -> None:
    torch.compiler.reset()
    layer = PacConv2d(2, 3, 3, padding=1, backend=backend)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    image, guide = inputs((6, 7))
    mask = torch.rand(1, 1, 6, 7) > 0.5
    output, output_mask = compiled(image, guide, None, mask)
    expected, expected_mask = layer(image, guide, None, mask)
    torch.testing.assert_close(output, expected)
    assert torch.equal(output_mask, expected_mask)


@pytest.mark.filterwarnings("ignore:.*script_method:DeprecationWarning")  # on inductor's import
def test_compiled_by_inductor() -> None:
    torch.compiler.reset()
    layer = PacConv2d(2, 3, 3, padding=1)
    image, guide = inputs((6, 7))
    compiled = torch.compile(layer, fullgraph=True)
    torch.testing.assert_close(compiled(image, guide), layer(image, guide))


@pytest.mark.parametrize(("make", "guide_size"), LAYERS)
def test_exported_layers_agree(make, guide_size, backend: str) -> None:
    layer = make(backend=backend)
    image, guide = inputs(guide_size)
    program = torch.export.export(layer, (image, guide))
    torch.testing.assert_close(program.module()(image, guide), layer(image, guide))


@pytest.mark.parametrize(("make", "guide_size"), LAYERS)
def test_autocast_computes_in_float32(make, guide_size, backend: str) -> None:
    layer = make(backend=backend)
    image, guide = (tensor.bfloat16() for tensor in inputs(guide_size))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = layer(image, guide)
    assert output.dtype == torch.float32
    expected = layer(image.float(), guide.float())
    torch.testing.assert_close(output, expected)
