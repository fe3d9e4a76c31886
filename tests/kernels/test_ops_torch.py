"""The native operators as torch operators: autograd, opcheck, compile, export, autocast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from pacbench import kernels
from pacbench.kernels import ops_conv, ops_fused, ops_kernel, ops_pool
from pacbench.kernels.arguments import Window

CONV = Window.of(3, (1, 2), 2, 2).flat()
TRANSPOSED = Window.of(3, 2, 1, 1, 1, transposed=True).flat()
# (window, size of the output, weight) for images (2, 3, 5, 6)
FORMS = [
    pytest.param(CONV, (5, 3), (4, 3, 3, 3), id="conv"),
    pytest.param(TRANSPOSED, (10, 12), (3, 4, 3, 3), id="transposed"),
]


def doubles(*shapes: tuple[int, ...]) -> list[Tensor]:
    return [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]


def operators(window: list[int], size: tuple[int, int], weight: tuple[int, ...]) -> list[Any]:
    """Every operator of the library with arguments to call it with."""
    image, image_size, kernel = (2, 3, 5, 6), [2, 3, 5, 6], (2, 1, 3, 3, *size)
    v, k, w, g, pooled = doubles(image, kernel, weight, (2, 4, *size), (2, 3, *size))
    shared, bias, channel_bias = doubles((1, 1, 3, 3), (4,), (3,))
    guide_taps = ops_fused.guide_window(Window.from_flat(window))
    guide_size = size if Window.from_flat(window).transposed else (5, 6)
    guide, centre = doubles((2, 2, *guide_size), (2, 2, *size))
    alpha, power = (t.detach().abs().requires_grad_() for t in doubles((2,), (2,)))
    features = (guide, centre, alpha, power)
    return [
        (ops_conv.conv, (v, k, w, window, bias)),
        (ops_conv.conv_grad_input, (k, w, g, window, image_size)),
        (ops_conv.conv_grad_kernel, (v, w, g, window, 1)),
        (ops_conv.conv_grad_weight, (v, k, g, window)),
        (ops_pool.pool, (v, k, shared, window, channel_bias)),
        (ops_pool.pool_grad_input, (k, shared, pooled, window, image_size)),
        (ops_pool.pool_grad_kernel, (v, shared, pooled, window)),
        (ops_kernel.adapting_kernel, (*features, False, guide_taps.flat())),
        (ops_fused.fused, (v, w, bias, *features, False, window)),
        (ops_fused.fused, (v, None, None, guide, centre, None, None, True, window)),
    ]


@pytest.mark.parametrize(("window", "size", "weight"), FORMS)
def test_opcheck(window: list[int], size: tuple[int, int], weight: tuple[int, ...]) -> None:
    for operator, arguments in operators(window, size, weight):
        torch.library.opcheck(operator, arguments)


@pytest.mark.parametrize(("window", "size", "weight"), FORMS)
def test_gradcheck(window: list[int], size: tuple[int, int], weight: tuple[int, ...]) -> None:
    for operator, arguments in operators(window, size, weight):
        assert torch.autograd.gradcheck(operator, arguments, fast_mode=True)


@pytest.mark.parametrize(("window", "size", "weight"), FORMS)
def test_second_derivatives_with_kernel(
    window: list[int], size: tuple[int, int], weight: tuple[int, ...]
) -> None:
    for operator, arguments in operators(window, size, weight)[:7]:
        assert torch.autograd.gradgradcheck(operator, arguments, fast_mode=True)


def test_second_derivative_by_guide_is_refused() -> None:
    image, guide, weight = doubles((1, 2, 5, 5), (1, 2, 5, 5), (2, 2, 3, 3))
    output = kernels.pac_conv2d(image, guide, weight, padding=1, backend="native")
    (gradient,) = torch.autograd.grad(output.square().sum(), guide, create_graph=True)
    with pytest.raises(NotImplementedError, match="no second derivative"):
        gradient.sum().backward()


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 3, 3, 3))
        self.bias = nn.Parameter(torch.randn(4))
        self.up = nn.Parameter(torch.randn(4, 2, 3, 3))

    def forward(self, image: Tensor, guide: Tensor, large_guide: Tensor) -> Tensor:
        image = kernels.pac_pool2d(image, guide, 3, padding=1)
        kernel = kernels.adapting_kernel(guide, 3, padding=1)
        image = kernels.pacconv2d(image, kernel, self.weight, self.bias, padding=1)
        return kernels.pac_conv_transpose2d(image, large_guide, self.up, None, 2, 1, 1)


@pytest.fixture
def images() -> list[Tensor]:
    return [torch.randn(2, 3, 8, 9), torch.randn(2, 2, 8, 9), torch.randn(2, 2, 16, 18)]


def test_compile(images: list[Tensor]) -> None:
    layer = Layer()
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    output = compiled(*images)
    expected = layer(*images)
    torch.testing.assert_close(output, expected)
    gradients = torch.autograd.grad(output.square().sum(), list(layer.parameters()))
    for got, wanted in zip(
        gradients,
        torch.autograd.grad(expected.square().sum(), list(layer.parameters())),
        strict=True,
    ):
        torch.testing.assert_close(got, wanted)


def test_export(images: list[Tensor]) -> None:
    layer = Layer()
    program = torch.export.export(layer, tuple(images))
    torch.testing.assert_close(program.module()(*images), layer(*images))
    names = {str(node.target) for node in program.graph.nodes}
    assert {"pacbench.fused.default", "pacbench.conv.default"} <= names


@pytest.mark.parametrize("backend", ["reference", "native"])
def test_autocast_computes_in_float32(backend: str) -> None:
    image, guide, weight = (
        torch.randn(1, 16, 9, 9),
        torch.randn(1, 3, 9, 9),
        torch.randn(8, 16, 3, 3),
    )
    exact = kernels.pac_conv2d(image.bfloat16().float(), guide, weight, padding=1, backend=backend)
    with torch.autocast("cpu", torch.bfloat16):
        output = kernels.pac_conv2d(image.bfloat16(), guide, weight, padding=1, backend=backend)
    assert output.dtype == torch.float32
    torch.testing.assert_close(output, exact, rtol=0, atol=0)


def test_autocast_trains() -> None:
    weight = torch.randn(4, 3, 3, 3, requires_grad=True)
    image = torch.randn(1, 3, 8, 8)
    with torch.autocast("cpu", torch.bfloat16):
        features = nn.functional.conv2d(image, torch.randn(3, 3, 1, 1))
        output = kernels.pac_conv2d(features, image, weight, padding=1, backend="native")
    output.sum().backward()
    assert weight.grad is not None
    assert weight.grad.dtype == torch.float32


def test_inference_mode() -> None:
    image, guide, weight = torch.randn(1, 3, 8, 8), torch.randn(1, 3, 8, 8), torch.randn(4, 3, 3, 3)
    with torch.inference_mode():
        output = kernels.pac_conv2d(image, guide, weight, backend="native")
    torch.testing.assert_close(output, kernels.pac_conv2d(image, guide, weight, backend="native"))


def test_gradients_only_where_asked() -> None:
    """Frozen arguments cost nothing and get nothing; each alone gets what it gets among others."""
    shapes = [(1, 3, 6, 7), (1, 2, 6, 7), (4, 3, 3, 3), (4,)]
    tensors = [torch.randn(shape) for shape in shapes]

    def run(function: Callable[..., Tensor], asked: int | None) -> list[Tensor | None]:
        leaves = [t.clone().requires_grad_(asked in (i, None)) for i, t in enumerate(tensors)]
        function(*leaves, padding=1, backend="native").square().sum().backward()
        return [leaf.grad for leaf in leaves]

    everything = run(kernels.pac_conv2d, None)
    for i in range(len(tensors)):
        alone = run(kernels.pac_conv2d, i)
        assert [gradient is None for gradient in alone] == [j != i for j in range(len(tensors))]
        assert alone[i] is not None
        torch.testing.assert_close(alone[i], everything[i])
