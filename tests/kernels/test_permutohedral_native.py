"""The native permutohedral lattice against the one in plain torch, and as torch operators."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from pacbench.kernels import PermutohedralLattice, gaussian_weight, permutohedral_filter
from pacbench.kernels import permutohedral_ops as ops
from pacbench.kernels import permutohedral_taps as taps

# batch, dimensions, channels, height, width
SHAPES = [
    (1, 5, 21, 19, 23),
    (2, 5, 21, 7, 9),
    (1, 1, 1, 1, 1),
    (1, 2, 3, 1, 37),
    (3, 3, 8, 37, 1),
    (2, 1, 33, 5, 6),
    (1, 4, 70, 6, 5),
    (2, 6, 2, 4, 5),
]


def inputs(
    shape: tuple[int, int, int, int, int], dtype: torch.dtype, shared: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    batch, d, channels, height, width = shape
    features = torch.randn(batch, d, height, width, dtype=dtype) * 2
    values = torch.randn(batch, channels, height, width, dtype=dtype)
    weight = torch.randn(1 if shared else channels, taps.count(d, 1), dtype=dtype)
    return features, values, weight


def with_gradients(
    features: Tensor, values: Tensor, weight: Tensor | None, backend: str
) -> list[Tensor]:
    """The filtered values, and the gradients of values and weight for an uneven loss."""
    leaves = [t.clone().requires_grad_() for t in (values, weight) if t is not None]
    output = permutohedral_filter(features, *leaves, backend=backend)
    slope = torch.linspace(-1, 1, output.numel(), dtype=output.dtype).view_as(output)
    output.backward(slope)
    return [output.detach(), *(t.grad for t in leaves if t.grad is not None)]


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_native_is_the_reference(
    shape: tuple[int, int, int, int, int], learned: bool, dtype: torch.dtype
) -> None:
    features, values, weight = inputs(shape, dtype)
    native, reference = (
        with_gradients(features, values, weight if learned else None, backend)
        for backend in ("native", "reference")
    )
    assert len(native) == len(reference) == (3 if learned else 2)
    for ours, theirs in zip(native, reference, strict=True):
        # Features in float32 are rounded, relative to the size of the simplices.
        tolerance = 2e-5 if dtype == torch.float32 else 1e-12
        assert (ours - theirs).abs().max() <= tolerance * theirs.abs().max() * 4


def test_constant_features_mix_all_pixels_of_an_image_alike() -> None:
    features = torch.full((2, 5, 4, 6), 1.7)
    values = torch.randn(2, 3, 4, 6)
    output = permutohedral_filter(features, values, backend="native")
    sums = values.sum((2, 3), keepdim=True)
    ratio = (output / sums).mean()
    torch.testing.assert_close(output, (sums * ratio).expand_as(output))
    assert PermutohedralLattice(features, backend="native").points == 12


def test_images_of_a_batch_do_not_meet() -> None:
    features, values, weight = inputs((3, 5, 4, 9, 8), torch.float64)
    for given in (None, weight):
        together = permutohedral_filter(features, values, given, backend="native")
        apart = [
            permutohedral_filter(f[None], v[None], given, backend="native")
            for f, v in zip(features, values, strict=True)
        ]
        torch.testing.assert_close(together, torch.cat(apart))


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("learned", [False, True])
def test_the_number_of_threads_changes_nothing(learned: bool) -> None:
    features, values, weight = inputs((2, 5, 21, 31, 17), torch.float32)
    results = []
    for threads in (1, 2, 5):
        torch.set_num_threads(threads)
        results.append(with_gradients(features, values, weight if learned else None, "native"))
    for other in results[1:]:
        for ours, theirs in zip(results[0][:2], other[:2], strict=True):
            torch.testing.assert_close(ours, theirs, rtol=0, atol=0)
        if learned:  # the gradient of the filter is a sum over threads
            torch.testing.assert_close(results[0][2], other[2], rtol=1e-4, atol=1e-3)


def test_a_lattice_serves_many_filters() -> None:
    features, values, weight = inputs((1, 3, 2, 6, 7), torch.float64, shared=True)
    lattice = PermutohedralLattice(features, backend="native")
    for given in (None, weight, None, weight):
        torch.testing.assert_close(
            lattice.filter(values, given),
            permutohedral_filter(features, values, given, backend="reference"),
        )


def test_memory_formats_do_not_matter() -> None:
    features, values, weight = inputs((2, 3, 4, 6, 7), torch.float64)
    plain = permutohedral_filter(features, values, weight, backend="native")
    strided = permutohedral_filter(
        features.to(memory_format=torch.channels_last),
        values.transpose(2, 3).contiguous().transpose(2, 3),
        weight.T.contiguous().T,
        backend="native",
    )
    torch.testing.assert_close(plain, strided, rtol=0, atol=0)


def test_not_a_number_stays_among_the_pixels_that_see_it() -> None:
    features = torch.zeros(1, 2, 2, 8)
    features[..., 4:] = 50  # far away
    values = torch.ones(1, 3, 2, 8)
    values[0, 1, 0, 0] = torch.nan
    output = permutohedral_filter(features, values, backend="native")
    assert output[0, 1, :, :4].isnan().all()
    output[0, 1, :, :4] = 0
    assert output.isfinite().all()


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize("shared", [False, True])
def test_gradcheck(shared: bool, backend: str) -> None:
    features, values, weight = inputs((2, 2, 2, 3, 3), torch.float64, shared)
    lattice = PermutohedralLattice(features, backend=backend)
    values.requires_grad_()
    weight.requires_grad_()
    assert torch.autograd.gradcheck(lattice.filter, (values,))
    assert torch.autograd.gradcheck(lattice.filter, (values, weight))
    assert torch.autograd.gradgradcheck(lattice.filter, (values, weight))


def test_features_get_no_gradient() -> None:
    features, values, _ = inputs((1, 2, 2, 3, 3), torch.float32)
    output = permutohedral_filter(features.requires_grad_(), values, backend="native")
    assert not output.requires_grad


def test_opcheck() -> None:
    features, values, weight = inputs((2, 2, 3, 3, 4), torch.float64)
    lattice = ops.build(features)
    axes, near = (
        ops.neighbours(lattice, taps.offsets(steps))
        for steps in (torch.eye(3, dtype=torch.int64), taps.steps(2, 1)[1::2])
    )
    values.requires_grad_()
    weight.requires_grad_()
    gradient = torch.randn_like(values, requires_grad=True)
    torch.library.opcheck(ops._build, (features,))
    torch.library.opcheck(ops._neighbours, (lattice.keys, taps.offsets(taps.steps(2, 1)).int()))
    torch.library.opcheck(ops._blur, (values, *lattice, axes, 0.8, False))
    torch.library.opcheck(ops._convolve, (values, weight, *lattice, near))
    torch.library.opcheck(ops._grad_weight, (values, gradient, *lattice, near))


def test_filtering_compiles_and_runs_under_autocast() -> None:
    features, values, _ = inputs((1, 3, 4, 6, 7), torch.float32)
    lattice = PermutohedralLattice(features, backend="native")
    weight = gaussian_weight(3)
    plain = lattice.filter(values, weight)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        half = lattice.filter(values.bfloat16(), weight)
    assert half.dtype == torch.float32
    torch.testing.assert_close(half, plain, rtol=0.05, atol=0.05)
    compiled = torch.compile(lattice.filter, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(values, weight), plain)
