"""The native operators against the reference: results and every gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from pacbench import kernels

# Units in the last place of the largest value; sums of hundreds of products in another order.
TOLERANCE = {torch.float32: 4e-5, torch.float64: 2e-13}
DTYPES = pytest.mark.parametrize("dtype", TOLERANCE, ids=["float32", "float64"])


class Case(NamedTuple):
    """An operator at a shape: (batch, in channels, out channels, height, width) and its taps."""

    shape: tuple[int, int, int, int, int]
    kernel_size: tuple[int, int] = (3, 3)
    stride: Any = 1
    padding: Any = 1
    dilation: Any = 1
    output_padding: Any = 0

    @property
    def taps(self) -> tuple[Any, Any, Any]:
        return self.stride, self.padding, self.dilation


CASES = {
    "small": Case((2, 3, 4, 9, 8)),
    "several-tiles": Case((1, 21, 21, 7, 111), (5, 5), 1, 32, 16),
    "channels-over-panel": Case((2, 140, 9, 5, 50)),
    "one-pixel": Case((2, 3, 2, 1, 1)),
    "one-row": Case((1, 5, 6, 1, 97), (3, 5), 1, (2, 4), 2),
    "one-column": Case((1, 5, 7, 97, 1), (5, 3), 1, (2, 1)),
    "one-channel": Case((3, 1, 1, 59, 59)),
    "pointwise": Case((2, 6, 13, 4, 59), (1, 1), 1, 0),
    "dilation-over-image": Case((1, 4, 5, 6, 7), (5, 5), 1, 64, 32),
    "stride": Case((2, 3, 5, 20, 111), (5, 3), (2, 3), (2, 0)),
    "stride-over-kernel": Case((1, 3, 2, 21, 59), (3, 1), (5, 4), (0, 2)),
    "padding-over-window": Case((1, 3, 2, 6, 5), (3, 3), 1, (4, 3)),
    "middle-outside-image": Case((1, 3, 2, 9, 2), (5, 3), (5, 7), (3, 18), (3, 16)),
}
TRANSPOSED = {
    "doubling": Case((2, 5, 9, 6, 59), (5, 5), 2, 2, 1, 1),
    "plain": Case((1, 3, 4, 9, 8)),
    "uneven": Case((1, 4, 3, 5, 30), (3, 5), (3, 2), (0, 4), (2, 1), (2, 1)),
    "stride-over-kernel": Case((2, 3, 2, 5, 13), (1, 3), (4, 5), (0, 1)),
    "padding-over-window": Case((1, 3, 2, 6, 9), (3, 3), 2, (3, 4)),
    "one-pixel": Case((1, 2, 3, 1, 1), (5, 5), 3, 1),
    "channels-over-panel": Case((1, 140, 3, 3, 20), (3, 3), 2, 1, 1, 1),
}


def of(cases: dict[str, Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases.values(), ids=cases)


def agree(function: Callable[..., Tensor], dtype: torch.dtype, *tensors: Tensor) -> None:
    """``function(*tensors, backend=...)`` and its gradients, on both backends."""
    upstream = None
    results = []
    for backend in ("reference", "native"):
        leaves = [tensor.detach().requires_grad_() for tensor in tensors]
        output = function(*leaves, backend=backend)
        if upstream is None:
            upstream = torch.randn(output.shape, dtype=dtype)
        results.append([output, *torch.autograd.grad(output, leaves, upstream)])
    for expected, actual in zip(*results, strict=True):
        assert actual.shape == expected.shape
        assert actual.dtype == dtype
        largest = float(expected.detach().abs().max())
        torch.testing.assert_close(
            actual, expected, rtol=0.0, atol=TOLERANCE[dtype] * max(largest, 1e-3)
        )


def randoms(dtype: torch.dtype) -> Callable[..., Tensor]:
    return lambda *shape: torch.randn(*shape, dtype=dtype)


@pytest.mark.usefixtures("isa")
@DTYPES
class TestConv:
    @of(CASES)
    def test_with_kernel(self, case: Case, dtype: torch.dtype) -> None:
        (b, c, o, h, w), random = case.shape, randoms(dtype)
        size = case.kernel_size
        kernel = kernels.adapting_kernel(random(b, 2, h, w), size, *case.taps, backend="reference")
        agree(
            lambda i, k, wt, bias, backend: kernels.pacconv2d(
                i, k, wt, bias, *case.taps, backend=backend
            ),
            dtype,
            random(b, c, h, w),
            kernel,
            random(o, c, *size),
            random(o),
        )

    @of(CASES)
    def test_from_guide(self, case: Case, dtype: torch.dtype) -> None:
        (b, c, o, h, w), random = case.shape, randoms(dtype)
        agree(
            lambda i, g, wt, bias, backend: kernels.pac_conv2d(
                i, g, wt, bias, *case.taps, backend=backend
            ),
            dtype,
            random(b, c, h, w),
            random(b, 3, h, w),
            random(o, c, *case.kernel_size),
            random(o),
        )

    @of({name: CASES[name] for name in ("small", "stride", "dilation-over-image")})
    def test_kernel_per_channel(self, case: Case, dtype: torch.dtype) -> None:
        (b, c, o, h, w), random = case.shape, randoms(dtype)
        kernel = kernels.adapting_kernel(
            random(b, c, h, w),
            case.kernel_size,
            *case.taps,
            channel_wise=True,
            backend="reference",
        )
        for weight, bias in (
            (random(o, c, *case.kernel_size), random(o)),
            (random(1, 1, *case.kernel_size), random(c)),
        ):
            agree(
                lambda i, k, wt, bias, backend: kernels.pacconv2d(
                    i, k, wt, bias, *case.taps, backend=backend
                ),
                dtype,
                random(b, c, h, w),
                kernel,
                weight,
                bias,
            )

    @of(CASES)
    def test_shared_filter(self, case: Case, dtype: torch.dtype) -> None:
        (b, c, _, h, w), random = case.shape, randoms(dtype)
        agree(
            lambda i, g, wt, bias, backend: kernels.pac_conv2d(
                i, g, wt, bias, *case.taps, backend=backend
            ),
            dtype,
            random(b, c, h, w),
            random(b, 1, h, w),
            random(1, 1, *case.kernel_size),
            random(c),
        )

    @pytest.mark.parametrize("asym", [False, True])
    @of({name: CASES[name] for name in ("small", "several-tiles", "stride")})
    def test_inv_kernel_with_smoothed_centre(
        self, case: Case, asym: bool, dtype: torch.dtype
    ) -> None:
        (b, c, o, h, w), random = case.shape, randoms(dtype)
        features = random(b, 3, h, w)
        kernel = kernels.adapting_kernel(features, case.kernel_size, *case.taps)
        agree(
            lambda i, g, centre, alpha, power, wt, backend: kernels.pac_conv2d(
                i,
                g,
                wt,
                None,
                *case.taps,
                kernel_type="inv",
                inv_alpha=alpha,
                inv_lambda=power,
                asym=asym,
                centre=centre,
                backend=backend,
            ),
            dtype,
            random(b, c, h, w),
            features,
            random(b, 3, *kernel.shape[4:]),
            torch.tensor(0.3, dtype=dtype),
            torch.tensor(1.7, dtype=dtype),
            random(o, c, *case.kernel_size),
        )


@pytest.mark.usefixtures("isa")
@DTYPES
@of(TRANSPOSED)
class TestTransposed:
    def output_size(self, case: Case) -> tuple[int, int]:
        image = torch.empty(1, 1, *case.shape[3:])
        weight = torch.empty(1, 1, *case.kernel_size)
        output = torch.nn.functional.conv_transpose2d(
            image, weight, None, case.stride, case.padding, case.output_padding, 1, case.dilation
        )
        return output.shape[2], output.shape[3]

    def arguments(self, case: Case) -> tuple[Any, Any, Any, Any]:
        return case.stride, case.padding, case.output_padding, case.dilation

    def test_with_kernel(self, case: Case, dtype: torch.dtype) -> None:
        (b, c, o, h, w), random = case.shape, randoms(dtype)
        for channels in (1, c):
            agree(
                lambda i, k, wt, bias, backend: kernels.pacconv_transpose2d(
                    i, k, wt, bias, *self.arguments(case), backend=backend
                ),
                dtype,
                random(b, c, h, w),
                random(b, channels, *case.kernel_size, *self.output_size(case)),
                random(c, o, *case.kernel_size),
                random(o),
            )

    def test_from_guide(self, case: Case, dtype: torch.dtype) -> None:
        (b, c, o, h, w), random = case.shape, randoms(dtype)
        for weight, bias in (
            (random(c, o, *case.kernel_size), random(o)),
            (random(1, 1, *case.kernel_size), random(c)),
        ):
            agree(
                lambda i, g, wt, bias, backend: kernels.pac_conv_transpose2d(
                    i, g, wt, bias, *self.arguments(case), backend=backend
                ),
                dtype,
                random(b, c, h, w),
                random(b, 2, *self.output_size(case)),
                weight,
                bias,
            )


@pytest.mark.usefixtures("isa")
@DTYPES
@of(CASES)
class TestPool:
    def test_with_kernel(self, case: Case, dtype: torch.dtype) -> None:
        (b, c, _, h, w), random = case.shape, randoms(dtype)
        for channels in (1, c):
            kernel = kernels.adapting_kernel(
                random(b, channels, h, w),
                case.kernel_size,
                *case.taps,
                channel_wise=True,
                backend="reference",
            )
            agree(
                lambda i, k, backend: kernels.pacpool2d(
                    i, k, case.kernel_size, *case.taps, backend=backend
                ),
                dtype,
                random(b, c, h, w),
                kernel,
            )

    @pytest.mark.parametrize("channel_wise", [False, True])
    def test_from_guide(self, case: Case, channel_wise: bool, dtype: torch.dtype) -> None:
        (b, c, _, h, w), random = case.shape, randoms(dtype)
        parameters = c if channel_wise else 1
        agree(
            lambda i, g, alpha, power, backend: kernels.pac_pool2d(
                i,
                g,
                case.kernel_size,
                *case.taps,
                kernel_type="inv",
                inv_alpha=alpha,
                inv_lambda=power,
                channel_wise=channel_wise,
                backend=backend,
            ),
            dtype,
            random(b, c, h, w),
            random(b, c if channel_wise else 2, h, w),
            torch.rand(parameters, dtype=dtype),
            0.5 + torch.rand(parameters, dtype=dtype),
        )


@pytest.mark.usefixtures("isa")
@DTYPES
@pytest.mark.parametrize("channel_wise", [False, True])
@of(CASES)
def test_adapting_kernel(case: Case, channel_wise: bool, dtype: torch.dtype) -> None:
    (b, c, _, h, w), random = case.shape, randoms(dtype)
    agree(
        lambda g, backend: kernels.adapting_kernel(
            g, case.kernel_size, *case.taps, channel_wise=channel_wise, backend=backend
        ),
        dtype,
        random(b, c, h, w) / c**0.5,
    )


@pytest.mark.usefixtures("isa")
def test_memory_formats() -> None:
    """Channels-last, strided and expanded tensors give what their contiguous copies give."""
    image = torch.randn(2, 6, 10, 12).to(memory_format=torch.channels_last)
    guide = torch.randn(2, 3, 20, 24)[:, :, ::2, ::2]
    weight = torch.randn(5, 5, 6, 4).permute(3, 2, 0, 1)
    kernel = torch.rand(1, 1, 5, 5, 10, 12).expand(2, 1, 5, 5, 10, 12)
    for function, strange in (
        (lambda i, g, w: kernels.pac_conv2d(i, g, w, padding=2), (image, guide, weight)),
        (lambda i, k, w: kernels.pacconv2d(i, k, w, padding=2), (image, kernel, weight)),
        (lambda i, k: kernels.pacpool2d(i, k, 5, padding=2), (image, kernel)),
    ):
        output = function(*(tensor.contiguous() for tensor in strange))
        assert output.is_contiguous()
        torch.testing.assert_close(function(*strange), output, rtol=0, atol=0)


@pytest.mark.usefixtures("threads")
def test_threads_do_not_change_results() -> None:
    """Forward and the gathering gradients exactly; sums over pixels up to rounding."""
    shapes = [(1, 5, 40, 59), (1, 3, 40, 59), (7, 5, 3, 3)]
    leaves = [torch.randn(shape, requires_grad=True) for shape in shapes]
    results = []
    for threads in (1, 2, 5):
        torch.set_num_threads(threads)
        output = kernels.pac_conv2d(*leaves, padding=4, dilation=4, backend="native")
        results.append([output, *torch.autograd.grad(output.square().sum(), leaves)])
    for other in results[1:]:
        for one, another in zip(results[0][:3], other[:3], strict=True):
            assert torch.equal(one, another)
        torch.testing.assert_close(results[0][3], other[3], rtol=1e-5, atol=1e-3)


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_bad_pixels_stay_local(bad: float) -> None:
    """A NaN or Inf reaches the pixels that see it and no other, also at the image's borders."""
    for y, x in ((0, 0), (5, 40), (11, 69), (3, 48)):
        image = torch.randn(1, 3, 12, 70)
        guide = torch.zeros(1, 1, 12, 70)
        weight = torch.rand(2, 3, 3, 3) + 0.5
        image[0, 1, y, x] = bad
        seen = kernels.pac_conv2d(
            image, guide, weight, padding=4, dilation=4, backend="reference"
        ).isfinite()
        output = kernels.pac_conv2d(image, guide, weight, padding=4, dilation=4, backend="native")
        assert torch.equal(output.isfinite(), seen)
        assert seen.float().mean() > 0.9
        kernel = torch.ones(1, 1, 3, 3, 12, 70)
        pooled = kernels.pacpool2d(image, kernel, 3, 1, 4, 4, backend="native")
        assert torch.equal(pooled[:, 1].isfinite(), seen[:, 0])
        assert pooled[:, [0, 2]].isfinite().all()


def test_empty_batch() -> None:
    output = kernels.pac_conv2d(
        torch.empty(0, 3, 8, 8), torch.empty(0, 2, 8, 8), torch.randn(4, 3, 3, 3), backend="native"
    )
    assert output.shape == (0, 4, 6, 6)
