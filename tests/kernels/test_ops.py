"""The native operators against the reference: results and every gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from pac_cases import CASES, TRANSPOSED, Case
from targets import Target, at
from torch import Tensor

from pacbench import kernels


def agree(function: Callable[..., Tensor], target: Target, *tensors: Tensor) -> None:
    """``function(*tensors, backend=...)`` and its gradients, against the reference."""
    leaves = [t.detach().to(target.device, target.dtype).requires_grad_() for t in tensors]
    precise = [t.detach().to("cpu", target.reference_dtype).requires_grad_() for t in leaves]
    expected = [function(*precise, backend="reference")]
    upstream = target.random(*expected[0].shape)
    expected += torch.autograd.grad(expected[0], precise, upstream.to("cpu", expected[0].dtype))
    actual = [function(*leaves, backend="native")]
    actual += torch.autograd.grad(actual[0], leaves, upstream)
    for ours, wanted in zip(actual, expected, strict=True):
        assert ours.shape == wanted.shape
        assert ours.dtype == target.dtype
        largest = float(wanted.detach().abs().max())
        if wanted.numel() == 1 and target.dtype.itemsize == 2:
            # A sum over all pixels of what was stored in 16 bits, which may cancel: judged by the
            # size that such a sum of random numbers has.
            largest = max(largest, upstream.numel() ** 0.5)
        torch.testing.assert_close(
            ours.to("cpu", wanted.dtype),
            wanted,
            rtol=0.0,
            atol=target.tolerance * max(largest, 1e-3),
        )


class TestConv:
    @at(CASES)
    def test_with_kernel(self, case: Case, target: Target) -> None:
        (b, c, o, h, w), random = case.shape, target.random
        size = case.kernel_size
        kernel = kernels.adapting_kernel(random(b, 2, h, w), size, *case.taps, backend="reference")
        agree(
            lambda i, k, wt, bias, backend: kernels.pacconv2d(
                i, k, wt, bias, *case.taps, backend=backend
            ),
            target,
            random(b, c, h, w),
            kernel,
            random(o, c, *size),
            random(o),
        )

    @at(CASES)
    def test_from_guide(self, case: Case, target: Target) -> None:
        (b, c, o, h, w), random = case.shape, target.random
        agree(
            lambda i, g, wt, bias, backend: kernels.pac_conv2d(
                i, g, wt, bias, *case.taps, backend=backend
            ),
            target,
            random(b, c, h, w),
            random(b, 3, h, w),
            random(o, c, *case.kernel_size),
            random(o),
        )

    @at(CASES, "small", "stride", "dilation-over-image")
    def test_kernel_per_channel(self, case: Case, target: Target) -> None:
        (b, c, o, h, w), random = case.shape, target.random
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
                target,
                random(b, c, h, w),
                kernel,
                weight,
                bias,
            )

    @at(CASES)
    def test_shared_filter(self, case: Case, target: Target) -> None:
        (b, c, _, h, w), random = case.shape, target.random
        agree(
            lambda i, g, wt, bias, backend: kernels.pac_conv2d(
                i, g, wt, bias, *case.taps, backend=backend
            ),
            target,
            random(b, c, h, w),
            random(b, 1, h, w),
            random(1, 1, *case.kernel_size),
            random(c),
        )

    @pytest.mark.parametrize("asym", [False, True])
    @at(CASES, "small", "several-tiles", "stride")
    def test_inv_kernel_with_smoothed_centre(self, case: Case, asym: bool, target: Target) -> None:
        (b, c, o, h, w), random = case.shape, target.random
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
            target,
            random(b, c, h, w),
            features,
            random(b, 3, *kernel.shape[4:]),
            torch.tensor(0.3),
            torch.tensor(1.7),
            random(o, c, *case.kernel_size),
        )


@at(TRANSPOSED)
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

    def test_with_kernel(self, case: Case, target: Target) -> None:
        (b, c, o, h, w), random = case.shape, target.random
        for channels in (1, c):
            agree(
                lambda i, k, wt, bias, backend: kernels.pacconv_transpose2d(
                    i, k, wt, bias, *self.arguments(case), backend=backend
                ),
                target,
                random(b, c, h, w),
                random(b, channels, *case.kernel_size, *self.output_size(case)),
                random(c, o, *case.kernel_size),
                random(o),
            )

    def test_from_guide(self, case: Case, target: Target) -> None:
        (b, c, o, h, w), random = case.shape, target.random
        for weight, bias in (
            (random(c, o, *case.kernel_size), random(o)),
            (random(1, 1, *case.kernel_size), random(c)),
        ):
            agree(
                lambda i, g, wt, bias, backend: kernels.pac_conv_transpose2d(
                    i, g, wt, bias, *self.arguments(case), backend=backend
                ),
                target,
                random(b, c, h, w),
                random(b, 2, *self.output_size(case)),
                weight,
                bias,
            )


@at(CASES)
class TestPool:
    def test_with_kernel(self, case: Case, target: Target) -> None:
        (b, c, _, h, w), random = case.shape, target.random
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
                target,
                random(b, c, h, w),
                kernel,
            )

    @pytest.mark.parametrize("channel_wise", [False, True])
    def test_from_guide(self, case: Case, channel_wise: bool, target: Target) -> None:
        (b, c, _, h, w), random = case.shape, target.random
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
            target,
            random(b, c, h, w),
            random(b, c if channel_wise else 2, h, w),
            torch.rand(parameters),
            0.5 + torch.rand(parameters),
        )


@pytest.mark.parametrize("channel_wise", [False, True])
@at(CASES)
def test_adapting_kernel(case: Case, channel_wise: bool, target: Target) -> None:
    (b, c, _, h, w), random = case.shape, target.random
    agree(
        lambda g, backend: kernels.adapting_kernel(
            g, case.kernel_size, *case.taps, channel_wise=channel_wise, backend=backend
        ),
        target,
        random(b, c, h, w) / c**0.5,
    )


def test_memory_formats(target: Target) -> None:
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
        strange = [tensor.to(target.device) for tensor in strange]
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


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_bad_pixels_stay_local(bad: float, target: Target) -> None:
    """A NaN or Inf reaches the pixels that see it and no other, also at the image's borders."""
    for y, x in ((0, 0), (5, 40), (11, 69), (3, 48)):
        image = torch.randn(1, 3, 12, 70, device=target.device)
        guide = torch.zeros(1, 1, 12, 70, device=target.device)
        weight = torch.rand(2, 3, 3, 3, device=target.device) + 0.5
        image[0, 1, y, x] = bad
        seen = kernels.pac_conv2d(
            image, guide, weight, padding=4, dilation=4, backend="reference"
        ).isfinite()
        output = kernels.pac_conv2d(image, guide, weight, padding=4, dilation=4, backend="native")
        assert torch.equal(output.isfinite(), seen)
        assert seen.float().mean() > 0.9
        kernel = torch.ones(1, 1, 3, 3, 12, 70, device=target.device)
        pooled = kernels.pacpool2d(image, kernel, 3, 1, 4, 4, backend="native")
        assert torch.equal(pooled[:, 1].isfinite(), seen[:, 0])
        assert pooled[:, [0, 2]].isfinite().all()


def test_empty_batch(target: Target) -> None:
    shapes = (0, 3, 8, 8), (0, 2, 8, 8), (4, 3, 3, 3)
    leaves = [torch.ones(shape, device=target.device, requires_grad=True) for shape in shapes]
    output = kernels.pac_conv2d(*leaves, backend="native")
    assert output.shape == (0, 4, 6, 6)
    for gradient, leaf in zip(torch.autograd.grad(output.sum(), leaves), leaves, strict=True):
        assert torch.equal(gradient, torch.zeros_like(leaf))
