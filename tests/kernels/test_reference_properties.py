"""The reference operators against torch's own, at any geometry, and their gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from pacbench.kernels import reference

pytestmark = pytest.mark.usefixtures("one_thread")


class Axis(NamedTuple):
    """One spatial axis of an operator's geometry."""

    size: int
    kernel_size: int
    stride: int
    padding: int
    dilation: int
    output_padding: int


@st.composite
def conv_axes(draw: st.DrawFn) -> Axis:
    kernel_size, dilation = draw(st.sampled_from([1, 3, 5, 7])), draw(st.integers(1, 4))
    padding, reach = draw(st.integers(0, 6)), dilation * (kernel_size - 1) + 1
    size = draw(st.integers(max(1, reach - 2 * padding), max(1, reach - 2 * padding) + 9))
    return Axis(size, kernel_size, draw(st.integers(1, 5)), padding, dilation, 0)


@st.composite
def transposed_axes(draw: st.DrawFn) -> Axis:
    size, stride = draw(st.integers(1, 6)), draw(st.integers(1, 7))
    kernel_size, dilation = draw(st.sampled_from([1, 3, 5])), draw(st.integers(1, 3))
    output_padding = draw(st.integers(0, max(stride, dilation) - 1))
    unpadded = (size - 1) * stride + dilation * (kernel_size - 1) + output_padding
    padding = draw(st.integers(0, min(6, unpadded // 2)))
    return Axis(size, kernel_size, stride, padding, dilation, output_padding)


@st.composite
def pool_axes(draw: st.DrawFn) -> Axis:
    kernel_size = draw(st.sampled_from([1, 3, 5, 7]))
    padding = draw(st.integers(0, kernel_size // 2))  # as much as avg_pool2d takes
    size = draw(st.integers(max(1, kernel_size - 2 * padding), 12))
    return Axis(size, kernel_size, draw(st.integers(1, 5)), padding, 1, 0)


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


@given(conv_axes(), conv_axes())
def test_pacconv2d_with_k_one_is_conv2d(rows: Axis, columns: Axis) -> None:
    size, kernel_size, *geometry, _ = zip(rows, columns, strict=True)
    image, weight, bias = normal(2, 2, *size), normal(3, 2, *kernel_size), normal(3)
    expected = F.conv2d(image, weight, bias, *geometry)
    ones = torch.ones(2, 1, *kernel_size, *expected.shape[2:]).double()
    output = reference.pacconv2d(image, ones, weight, bias, *geometry)
    torch.testing.assert_close(output, expected)
    flat = reference.pac_conv2d(image, torch.zeros_like(image), weight, bias, *geometry)
    torch.testing.assert_close(flat, expected)


@given(transposed_axes(), transposed_axes())
def test_pacconv_transpose2d_with_k_one_is_conv_transpose2d_of_the_flipped_weight(
    rows: Axis, columns: Axis
) -> None:
    size, kernel_size, *geometry, dilation, extra = zip(rows, columns, strict=True)
    image, weight, bias = normal(2, 2, *size), normal(2, 3, *kernel_size), normal(3)
    flipped = weight.flip(2, 3)
    expected = F.conv_transpose2d(image, flipped, bias, *geometry, extra, 1, dilation)
    ones = torch.ones(2, 1, *kernel_size, *expected.shape[2:]).double()
    output = reference.pacconv_transpose2d(image, ones, weight, bias, *geometry, extra, dilation)
    torch.testing.assert_close(output, expected)


@given(pool_axes(), pool_axes())
def test_pacpool2d_with_k_one_is_avg_pool2d_times_the_taps(rows: Axis, columns: Axis) -> None:
    size, kernel_size, stride, padding, _, _ = zip(rows, columns, strict=True)
    image = normal(2, 3, *size)
    mean = F.avg_pool2d(image, kernel_size, stride, padding)
    ones = torch.ones(2, 1, *kernel_size, *mean.shape[2:]).double()
    output = reference.pacpool2d(image, ones, kernel_size, stride, padding)
    torch.testing.assert_close(output, kernel_size[0] * kernel_size[1] * mean)


def inv(count: int) -> dict[str, Tensor]:
    return {"inv_alpha": torch.rand(count).double(), "inv_lambda": torch.rand(count).double() + 1}


def gradcheck(function: Any, **tensors: Tensor) -> bool:
    """gradcheck of ``function(**tensors)``, first and second derivatives."""
    names = list(tensors)
    inputs = tuple(tensor.requires_grad_() for tensor in tensors.values())

    def by_name(*values: Tensor) -> Tensor:
        return function(**dict(zip(names, values, strict=True)))

    return torch.autograd.gradcheck(by_name, inputs) and torch.autograd.gradgradcheck(
        by_name, inputs
    )


@pytest.mark.parametrize("asym", [False, True])
def test_gradients_of_pac_conv2d(asym: bool) -> None:
    def conv(**tensors: Tensor) -> Tensor:
        return reference.pac_conv2d(**tensors, padding=1, stride=2, kernel_type="inv", asym=asym)

    assert gradcheck(
        conv,
        input=normal(2, 2, 3, 4),
        guide=normal(2, 2, 3, 4),
        weight=normal(2, 2, 3, 3),
        bias=normal(2),
        centre=normal(2, 2, 2, 2),
        **inv(1),
    )


def test_gradients_of_pac_conv_transpose2d() -> None:
    def conv(**tensors: Tensor) -> Tensor:
        return reference.pac_conv_transpose2d(**tensors, stride=2, padding=1, output_padding=1)

    assert gradcheck(
        conv,
        input=normal(1, 2, 2, 2),
        guide=normal(1, 2, 4, 4),
        weight=normal(2, 2, 3, 3),
        bias=normal(2),
    )


def test_gradients_of_pac_pool2d() -> None:
    def pool(**tensors: Tensor) -> Tensor:
        return reference.pac_pool2d(
            **tensors, kernel_size=3, padding=2, dilation=2, kernel_type="inv", channel_wise=True
        )

    assert gradcheck(pool, input=normal(1, 2, 3, 4), guide=normal(1, 2, 3, 4), **inv(2))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_one_bad_pixel_spoils_only_what_sees_it(value: float) -> None:
    image, guide = torch.rand(1, 2, 9, 9), torch.rand(1, 2, 9, 9)
    weight = torch.rand(3, 2, 3, 3) + 0.1
    clean = reference.pac_conv2d(image, guide, weight, padding=1)
    seen = torch.zeros(9, 9, dtype=torch.bool)
    seen[3:6, 4:7] = True
    for spoilt in (image, guide):
        before = spoilt[0, 1, 4, 5].item()
        spoilt[0, 1, 4, 5] = value
        output = reference.pac_conv2d(image, guide, weight, padding=1)
        torch.testing.assert_close(output[..., ~seen], clean[..., ~seen])
        if spoilt is image or value != value:
            assert not output[..., seen].isfinite().any()
        spoilt[0, 1, 4, 5] = before


def test_one_bad_pixel_spoils_only_what_sees_it_transposed() -> None:
    image, weight = torch.rand(1, 1, 4, 4), torch.rand(1, 1, 3, 3) + 0.1
    image[0, 0, 2, 1] = float("nan")
    kernel = torch.rand(1, 1, 3, 3, 8, 8) + 0.1
    output = reference.pacconv_transpose2d(image, kernel, weight, None, 2, 1, 1)
    seen = torch.zeros(8, 8, dtype=torch.bool)
    seen[3:6, 1:4] = True
    assert torch.equal(output[0, 0].isnan(), seen)
