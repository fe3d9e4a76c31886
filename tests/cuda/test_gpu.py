"""What only a GPU has: graphs, streams, several devices, an allocator that counts."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import torch
from targets import CUDA, use
from torch import Tensor

from pacbench import doctor, kernels
from pacbench.kernels import Pairwise

pytestmark = pytest.mark.cuda
# Off under compute-sanitizer (Makefile): graphs cannot allocate then, and nothing is counted.
needs_torch_allocator = pytest.mark.skipif(
    "PYTORCH_NO_CUDA_MEMORY_CACHING" in os.environ, reason="torch's allocator is switched off"
)


@pytest.fixture(autouse=True)
def _gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    use(CUDA, torch.float32, monkeypatch)


@pytest.fixture
def no_waiting() -> Iterator[None]:
    """Operators of torch that wait for the GPU raise."""
    torch.cuda.set_sync_debug_mode("error")
    yield
    torch.cuda.set_sync_debug_mode("default")


def leaves(device: str = "cuda") -> list[Tensor]:
    """Input, guide, weight and bias, with gradients."""
    shapes = [(2, 16, 40, 70), (2, 3, 40, 70), (24, 16, 5, 5), (24,)]
    return [torch.randn(shape, device=device, requires_grad=True) for shape in shapes]


def forward(tensors: list[Tensor]) -> Tensor:
    return kernels.pac_conv2d(*tensors, padding=4, dilation=2, backend="native")


def train(tensors: list[Tensor]) -> list[Tensor]:
    output = forward(tensors)
    return [output.detach(), *torch.autograd.grad(output.square().sum(), tensors)]


def captured(tensors: list[Tensor]) -> tuple[torch.cuda.CUDAGraph, list[Tensor]]:
    """A step of training as a graph, and where its results are."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        train(tensors)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = train(tensors)
    return graph, results


def test_doctor_launches() -> None:
    assert doctor._launch() == ""


@needs_torch_allocator
def test_training_in_a_graph() -> None:
    tensors = leaves()
    graph, results = captured(tensors)
    with torch.no_grad():
        for tensor in tensors:
            tensor.normal_()
    expected = train(tensors)
    graph.replay()
    torch.cuda.synchronize()
    for result, wanted in zip(results, expected, strict=True):
        assert torch.equal(result, wanted)


@needs_torch_allocator
def test_mean_field_step_in_a_graph() -> None:
    unary, kernel, weight = (
        torch.rand(shape, device="cuda")
        for shape in ((1, 21, 40, 70), (1, 1, 5, 5, 40, 70), (21, 21, 5, 5))
    )
    marginals = unary.softmax(1)

    def step() -> Tensor:
        terms = [Pairwise(weight, kernel, dilation=4)]
        return kernels.mean_field_step(unary, marginals, terms, "softmax", backend="native")

    expected = step()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = step()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(result, expected)


@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype")
@pytest.mark.usefixtures("no_waiting")
def test_nothing_waits() -> None:
    train(leaves())


def test_current_stream_is_used() -> None:
    """An operator sees what was put on its stream before it, however long that takes."""
    tensors = [tensor.detach() for tensor in leaves()]
    ready, expected = tensors[0].clone(), forward(tensors)
    tensors[0].zero_()
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep(100_000_000)  # cycles
        tensors[0].copy_(ready)
        output = forward(tensors)
    side.synchronize()
    assert torch.equal(output, expected)


def test_device_of_the_tensors_is_used() -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("only one CUDA device")
    here = leaves("cuda:0")
    there = [tensor.detach().to("cuda:1").requires_grad_() for tensor in here]
    with torch.cuda.device(0):
        results = train(there)
        assert torch.cuda.current_device() == 0
    for result, wanted in zip(results, train(here), strict=True):
        assert result.device == torch.device("cuda:1")
        torch.testing.assert_close(result.cpu(), wanted.cpu(), rtol=1e-4, atol=1e-3)


@needs_torch_allocator
def test_no_memory_but_the_output() -> None:
    tensors = [tensor.detach() for tensor in leaves()]
    forward(tensors)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    output = forward(tensors)
    assert torch.cuda.max_memory_allocated() == torch.cuda.memory_allocated()
    assert torch.cuda.memory_allocated() - before <= output.nbytes + 512  # an allocator's rounding
