"""The operators through the CUDA library as torch operators: layouts, dtypes, autograd, compile.

That the kernels compute the right thing is for tests/kernels/test_ops.py.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from pacbench import kernels
from pacbench.kernels import mean_field_ops, ops_conv, ops_fused, ops_kernel, ops_pool
from pacbench.kernels.arguments import Window
from pacbench.pac import PacCRF

# Without dispatch through AOT autograd, which test_compile goes through, too.
CHECKS = ("test_schema", "test_autograd_registration", "test_faketensor")


def leaf(*shape: int, device: str) -> Tensor:
    return torch.randn(shape, device=device, requires_grad=True)


def test_opcheck(device: str) -> None:
    def new(*shape: int) -> Tensor:
        return leaf(*shape, device=device)

    window, size = Window.of(3, (1, 2), 2, 2).flat(), (5, 3)
    v, k, w, g, pooled = (
        new(1, 3, 5, 6),
        new(1, 1, 3, 3, *size),
        new(4, 3, 3, 3),
        new(1, 4, *size),
        new(1, 3, *size),
    )
    shared = new(1, 1, 3, 3)
    features = (new(1, 2, 5, 6), new(1, 2, *size), None, None)
    for operator, arguments in (
        (ops_conv.conv, (v, k, w, window, new(4))),
        (ops_conv.conv_grad_input, (k, w, g, window, [1, 3, 5, 6])),
        (ops_conv.conv_grad_kernel, (v, w, g, window, 1)),
        (ops_conv.conv_grad_weight, (v, k, g, window)),
        (ops_pool.pool, (v, k, shared, window, new(3))),
        (ops_pool.pool_grad_input, (k, shared, pooled, window, [1, 3, 5, 6])),
        (ops_pool.pool_grad_kernel, (v, shared, pooled, window)),
        (ops_kernel.adapting_kernel, (*features, False, window)),
        (ops_fused.fused, (v, w, new(4), *features, False, window)),
    ):
        torch.library.opcheck(operator, arguments, test_utils=CHECKS)


def test_opcheck_mean_field_step(device: str) -> None:
    unary, weight = (
        leaf(1, 2, 4, 5, device=device).detach(),
        leaf(2, 2, 3, 3, device=device).detach(),
    )
    kernel = torch.rand(1, 1, 3, 3, 4, 5, device=device)
    arguments: tuple[Any, ...] = (unary, unary, [weight], [kernel], [None], [None], [1], 1)
    torch.library.opcheck(mean_field_ops.fused_step, arguments)


def test_any_layout(device: str) -> None:
    """Transposed, sliced and channels-last tensors give what their contiguous copies give."""
    image = torch.randn(1, 6, 5, 4, device=device).transpose(2, 3)[:, ::2]
    guide = torch.randn(1, 2, 4, 5, device=device).to(memory_format=torch.channels_last)
    weight = torch.randn(3, 4, 3, 3, device=device).transpose(0, 1)
    bias = torch.randn(8, device=device)[::2]
    upstream = torch.randn(1, 5, 4, 4, device=device).permute(0, 3, 2, 1)
    results = []
    for contiguous in (False, True):
        leaves = [
            (t.contiguous() if contiguous else t).detach().requires_grad_()
            for t in (image, guide, weight, bias)
        ]
        output = kernels.pac_conv2d(*leaves, padding=1, backend="native")
        gradients = torch.autograd.grad(
            output, leaves, upstream.contiguous() if contiguous else upstream
        )
        results.append([output, *gradients])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_reduced_precision_trains(dtype: torch.dtype, device: str) -> None:
    """Outputs and all gradients have the dtype of the inputs, inv's parameters included."""
    shapes = [(1, 3, 4, 5), (1, 2, 4, 5), (2, 3, 3, 3), (2,), (), ()]
    leaves = [torch.rand(shape, device=device).to(dtype).requires_grad_() for shape in shapes]
    outputs = []
    for backend in ("native", "reference"):
        image, guide, weight, bias, alpha, power = leaves
        output = kernels.pac_conv2d(
            image, guide, weight, bias, padding=1, kernel_type="inv", inv_alpha=alpha,
            inv_lambda=power, backend=backend,
        )  # fmt: skip
        outputs.append([output, *torch.autograd.grad(output.sum(), leaves)])
    for native, reference in zip(*outputs, strict=True):
        assert native.dtype == dtype
        assert native.shape == reference.shape
        torch.testing.assert_close(native, reference, rtol=0.05, atol=0.05)


def test_float64_is_left_to_torch(device: str) -> None:
    image, weight = (
        torch.ones(1, 2, 5, 5, device=device).double(),
        torch.ones(2, 2, 3, 3, device=device).double(),
    )
    with pytest.raises(ValueError, match="computes in float32, float16, bfloat16 on"):
        kernels.pac_conv2d(image, image, weight, backend="native")
    assert kernels.pac_conv2d(image, image, weight, backend="auto").dtype == torch.float64


def test_autocast_computes_in_float32(device: str) -> None:
    image, guide = torch.randn(1, 4, 6, 6, device=device), torch.randn(1, 3, 6, 6, device=device)
    weight = torch.randn(2, 4, 3, 3, device=device)
    exact = kernels.pac_conv2d(image.bfloat16().float(), guide, weight, backend="native")
    with torch.autocast(torch.device(device).type, torch.bfloat16):
        output = kernels.pac_conv2d(image.bfloat16(), guide, weight, backend="native")
    assert output.dtype == torch.float32
    assert torch.equal(output, exact)


def test_any_default_dtype(device: str) -> None:
    """What the gradient of the weight sums in parts is float32, whatever torch's default is."""
    image, guide = (torch.randn(1, channels, 20, 70, device=device) for channels in (9, 2))
    weight = leaf(5, 9, 3, 3, device=device)

    def gradient() -> Tensor:
        output = kernels.pac_conv2d(image, guide, weight, padding=1, backend="native")
        return torch.autograd.grad(output.square().sum(), weight)[0]

    expected = gradient()
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        assert torch.equal(gradient(), expected)
    finally:
        torch.set_default_dtype(before)


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 3, 3, 3))
        self.up = nn.Parameter(torch.randn(4, 2, 3, 3))

    def forward(self, image: Tensor, guide: Tensor, large_guide: Tensor) -> Tensor:
        image = kernels.pac_pool2d(image, guide, 3, padding=1)
        kernel = kernels.adapting_kernel(guide, 3, padding=1)
        image = kernels.pacconv2d(image, kernel, self.weight, padding=1)
        return kernels.pac_conv_transpose2d(image, large_guide, self.up, None, 2, 1, 1)


def images(device: str) -> list[Tensor]:
    shapes = [(1, 3, 4, 5), (1, 2, 4, 5), (1, 2, 8, 10)]
    return [torch.randn(shape, device=device) for shape in shapes]


def test_compile(device: str) -> None:
    layer, inputs = Layer().to(device), images(device)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    output, expected = compiled(*inputs), layer(*inputs)
    torch.testing.assert_close(output, expected)
    parameters = list(layer.parameters())
    gradients = torch.autograd.grad(output.square().sum(), parameters)
    for got, wanted in zip(
        gradients, torch.autograd.grad(expected.square().sum(), parameters), strict=True
    ):
        torch.testing.assert_close(got, wanted)


def test_same_bits_every_time(device: str) -> None:
    layer, inputs = Layer().to(device), images(device)
    runs = []
    for _ in range(2):
        output = layer(*inputs)
        runs.append([output, *torch.autograd.grad(output.square().sum(), list(layer.parameters()))])
    for one, other in zip(*runs, strict=True):
        assert torch.equal(one, other)


class Recorder(TorchDispatchMode):
    """Keeps the names of the operators that run within it."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


def test_pac_crf_runs_fused_steps(device: str) -> None:
    """Without gradients each step is one operator; with them, the same by the PAC operators."""
    terms = [{"dilation": 2}, {"compat_type": "potts"}, {"compat_type": "2d", "kernel_size": 5}]
    crf = PacCRF(3, 2, "softmax", pairwise_kernels=terms, backend="native").to(device)
    unary, guide = torch.randn(1, 3, 9, 11, device=device), torch.randn(1, 2, 9, 11, device=device)
    with Recorder() as recorder, torch.no_grad():
        fused = crf(unary, guide)
    assert recorder.names.count("pacbench.mean_field_step.default") == 2
    assert "pacbench.conv.default" not in recorder.names
    with Recorder() as recorder:
        trained = crf(unary, guide)
    assert "pacbench.mean_field_step.default" not in recorder.names
    torch.testing.assert_close(fused, trained.detach())
    crf.backend = "reference"
    with torch.no_grad():
        torch.testing.assert_close(fused, crf(unary, guide))
