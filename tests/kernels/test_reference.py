"""The reference operators against loops over pixels and taps, in double."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from pacbench.kernels import reference


class Geometry(NamedTuple):
    kernel_size: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int] = (0, 0)
    dilation: tuple[int, int] = (1, 1)
    output_padding: tuple[int, int] = (0, 0)


SIZE = (6, 7)
GEOMETRIES = [
    pytest.param(Geometry((3, 3)), id="plain"),
    pytest.param(Geometry((3, 5), padding=(1, 2)), id="same"),
    pytest.param(Geometry((5, 3), (2, 3), (2, 0)), id="stride"),
    pytest.param(Geometry((3, 3), (1, 2), (2, 3), (2, 3)), id="dilation"),
    pytest.param(Geometry((1, 1), (4, 5)), id="stride-over-kernel"),
    pytest.param(Geometry((3, 3), padding=(9, 8), dilation=(9, 8)), id="dilation-over-image"),
    pytest.param(Geometry((3, 1), padding=(4, 3)), id="padding-over-window"),
]
TRANSPOSED = [
    pytest.param(Geometry((3, 3)), id="plain"),
    pytest.param(Geometry((5, 5), (2, 2), (2, 2), (1, 1), (1, 1)), id="doubling"),
    pytest.param(Geometry((3, 5), (3, 2), (0, 4), (2, 1), (2, 1)), id="uneven"),
    pytest.param(Geometry((1, 3), (4, 4), (0, 1)), id="stride-over-kernel"),
    pytest.param(Geometry((3, 3), (2, 2), (3, 4)), id="padding-over-window"),
]


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def pixel(image: Tensor, b: int, c: int, y: int, x: int) -> float:
    """Pixel of (B, C, H, W), 0 outside."""
    inside = 0 <= y < image.shape[2] and 0 <= x < image.shape[3]
    return float(image[b, c, y, x]) if inside else 0.0


def places(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return itertools.product(*map(range, shape))


def conv_output_size(size: tuple[int, int], g: Geometry) -> tuple[int, int]:
    zeros = torch.zeros(1, 1, *size)
    output = torch.nn.functional.conv2d(
        zeros, torch.zeros(1, 1, *g.kernel_size), None, g.stride, g.padding, g.dilation
    )
    return output.shape[2], output.shape[3]


def transposed_output_size(size: tuple[int, int], g: Geometry) -> tuple[int, int]:
    zeros, weight = torch.zeros(1, 1, *size), torch.zeros(1, 1, *g.kernel_size)
    output = torch.nn.functional.conv_transpose2d(
        zeros, weight, None, g.stride, g.padding, g.output_padding, 1, g.dilation
    )
    return output.shape[2], output.shape[3]


def looped_kernel(
    guide: Tensor,
    g: Geometry,
    size: tuple[int, int],
    *,
    kernel_type: str = "gaussian",
    inv_alpha: Tensor | None = None,
    inv_lambda: Tensor | None = None,
    asym: bool = False,
    channel_wise: bool = False,
    centre: Tensor | None = None,
) -> Tensor:
    batch, channels = guide.shape[:2]
    kernel = torch.empty(batch, channels if channel_wise else 1, *g.kernel_size, *size).double()
    kh, kw = g.kernel_size
    for b, k, y, x, h, w in places(tuple(kernel.shape)):
        top = h * g.stride[0] - g.padding[0]
        left = w * g.stride[1] - g.padding[1]
        squared = 0.0
        for c in [k] if channel_wise else range(channels):
            at_tap = pixel(guide, b, c, top + y * g.dilation[0], left + x * g.dilation[1])
            if centre is None:
                middle = top + kh // 2 * g.dilation[0], left + kw // 2 * g.dilation[1]
                at_centre = pixel(guide, b, c, *middle)
            else:
                at_centre = float(centre[b, c, h, w])
            difference = at_tap - at_centre
            squared += (max(difference, 0.0) if asym else difference) ** 2
        if kernel_type == "gaussian":
            kernel[b, k, y, x, h, w] = math.exp(-squared / 2)
        else:
            assert inv_alpha is not None
            assert inv_lambda is not None
            one = k if inv_alpha.numel() > 1 else 0
            alpha, power = float(inv_alpha.flatten()[one]), float(inv_lambda.flatten()[one])
            kernel[b, k, y, x, h, w] = alpha + (squared + 1e-4) ** (power / 2)
    return kernel


def looped_pool(image: Tensor, kernel: Tensor, g: Geometry) -> Tensor:
    batch, channels = image.shape[:2]
    output = torch.zeros(batch, channels, *kernel.shape[4:]).double()
    for b, c, h, w in places(tuple(output.shape)):
        k = c if kernel.shape[1] > 1 else 0
        for y, x in places(g.kernel_size):
            row = h * g.stride[0] - g.padding[0] + y * g.dilation[0]
            column = w * g.stride[1] - g.padding[1] + x * g.dilation[1]
            output[b, c, h, w] += float(kernel[b, k, y, x, h, w]) * pixel(image, b, c, row, column)
    return output


def looped_conv(image: Tensor, kernel: Tensor, weight: Tensor, bias: Tensor, g: Geometry) -> Tensor:
    """Output channel o is the sum over c of poolings by K times W[o, c]."""
    batch, channels = image.shape[:2]
    shared = weight.shape[:2] == (1, 1)
    outputs = channels if shared else weight.shape[0]
    output = bias.view(1, -1, 1, 1).repeat(batch, 1, *kernel.shape[4:])
    for o, c in places((outputs, channels)):
        if shared and o != c:
            continue
        taps = (weight[0, 0] if shared else weight[o, c])[None, None, :, :, None, None]
        own = kernel[:, c : c + 1] if kernel.shape[1] > 1 else kernel
        output[:, o] += looped_pool(image[:, c : c + 1], own * taps, g)[:, 0]
    return output


def looped_conv_transpose(
    image: Tensor, kernel: Tensor, weight: Tensor, bias: Tensor, g: Geometry
) -> Tensor:
    """Tap (y, x) of W and K sees the input pixel, if any, at its place around the output pixel."""
    batch, channels = image.shape[:2]
    shared = weight.shape[:2] == (1, 1)
    output = bias.view(1, -1, 1, 1).repeat(batch, 1, *kernel.shape[4:])
    for b, o, h, w in places(tuple(output.shape)):
        for y, x in places(g.kernel_size):
            source = [
                out + p - (k - 1 - tap) * d
                for out, p, k, tap, d in zip(
                    (h, w), g.padding, g.kernel_size, (y, x), g.dilation, strict=True
                )
            ]
            if source[0] % g.stride[0] or source[1] % g.stride[1]:
                continue
            row, column = source[0] // g.stride[0], source[1] // g.stride[1]
            for c in [o] if shared else range(channels):
                tap_weight = weight[0, 0, y, x] if shared else weight[c, o, y, x]
                k = c if kernel.shape[1] > 1 else 0
                output[b, o, h, w] += (float(kernel[b, k, y, x, h, w]) * float(tap_weight)) * pixel(
                    image, b, c, row, column
                )
    return output


def inv_parameters(count: int) -> dict[str, Any]:
    return {
        "kernel_type": "inv",
        "inv_alpha": torch.rand(count).double() if count else torch.tensor(0.3).double(),
        "inv_lambda": torch.rand(count).double() + 0.5 if count else torch.tensor(1.4).double(),
    }


ADAPTING = [
    pytest.param(0, False, False, id="gaussian"),
    pytest.param(0, True, False, id="gaussian-asym"),
    pytest.param(0, False, True, id="gaussian-channel-wise"),
    pytest.param(1, True, False, id="inv-asym"),
    pytest.param(3, False, True, id="inv-channel-wise"),
    pytest.param(1, True, True, id="inv-asym-channel-wise-one-alpha"),
]


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize(("inv_count", "asym", "channel_wise"), ADAPTING)
@pytest.mark.parametrize("smoothed", [False, True], ids=["middle", "centre"])
def test_adapting_kernel(
    geometry: Geometry, inv_count: int, asym: bool, channel_wise: bool, smoothed: bool
) -> None:
    guide = normal(1, 3, *SIZE)
    size = conv_output_size(SIZE, geometry)
    options = {
        "asym": asym,
        "channel_wise": channel_wise,
        "centre": normal(1, 3, *size) if smoothed else None,
        **(inv_parameters(inv_count) if inv_count else {}),
    }
    kernel = reference.adapting_kernel(guide, *geometry[:4], **options)
    torch.testing.assert_close(kernel, looped_kernel(guide, geometry, size, **options))


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("kernel_channels", [1, 2])
def test_pacpool2d(geometry: Geometry, kernel_channels: int) -> None:
    image = normal(2, 2, *SIZE)
    size = conv_output_size(SIZE, geometry)
    kernel = normal(2, kernel_channels, *geometry.kernel_size, *size)
    output = reference.pacpool2d(image, kernel, *geometry[:4])
    torch.testing.assert_close(output, looped_pool(image, kernel, geometry))


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("kernel_channels", [1, 2])
@pytest.mark.parametrize("shared", [False, True], ids=["dense", "shared"])
def test_pacconv2d(geometry: Geometry, kernel_channels: int, shared: bool) -> None:
    image = normal(2, 2, *SIZE)
    size = conv_output_size(SIZE, geometry)
    kernel = normal(2, kernel_channels, *geometry.kernel_size, *size)
    weight = normal(*((1, 1) if shared else (3, 2)), *geometry.kernel_size)
    bias = normal(2 if shared else 3)
    output = reference.pacconv2d(image, kernel, weight, bias, *geometry[1:4])
    torch.testing.assert_close(output, looped_conv(image, kernel, weight, bias, geometry))


@pytest.mark.parametrize("geometry", TRANSPOSED)
@pytest.mark.parametrize("kernel_channels", [1, 2])
@pytest.mark.parametrize("shared", [False, True], ids=["dense", "shared"])
def test_pacconv_transpose2d(geometry: Geometry, kernel_channels: int, shared: bool) -> None:
    image = normal(2, 2, 4, 5)
    size = transposed_output_size((4, 5), geometry)
    kernel = normal(2, kernel_channels, *geometry.kernel_size, *size)
    weight = normal(*((1, 1) if shared else (2, 3)), *geometry.kernel_size)
    bias = normal(2 if shared else 3)
    g = geometry
    output = reference.pacconv_transpose2d(
        image, kernel, weight, bias, g.stride, g.padding, g.output_padding, g.dilation
    )
    torch.testing.assert_close(output, looped_conv_transpose(image, kernel, weight, bias, g))


def test_pac_conv2d_fuses_the_two_steps() -> None:
    geometry = Geometry((3, 3), (1, 2), (2, 3), (2, 3))
    image, guide = normal(1, 2, *SIZE), normal(1, 3, *SIZE)
    weight, bias = normal(3, 2, 3, 3), normal(3)
    options = {"asym": True, **inv_parameters(0)}
    output = reference.pac_conv2d(image, guide, weight, bias, *geometry[1:4], **options)
    kernel = looped_kernel(guide, geometry, conv_output_size(SIZE, geometry), **options)
    torch.testing.assert_close(output, looped_conv(image, kernel, weight, bias, geometry))


def test_pac_pool2d_fuses_the_two_steps() -> None:
    geometry = Geometry((5, 3), (2, 3), (2, 0))
    image, guide = normal(2, 3, *SIZE), normal(2, 3, *SIZE)
    size = conv_output_size(SIZE, geometry)
    options = {"channel_wise": True, "centre": normal(2, 3, *size), **inv_parameters(3)}
    output = reference.pac_pool2d(image, guide, *geometry[:4], **options)
    kernel = looped_kernel(guide, geometry, size, **options)
    torch.testing.assert_close(output, looped_pool(image, kernel, geometry))


@pytest.mark.parametrize("geometry", TRANSPOSED)
def test_pac_conv_transpose2d_takes_k_around_output_pixels(geometry: Geometry) -> None:
    g = geometry
    image = normal(1, 2, 4, 5)
    size = transposed_output_size((4, 5), g)
    guide = normal(1, 3, *size)
    weight, bias = normal(2, 3, *g.kernel_size), normal(3)
    output = reference.pac_conv_transpose2d(
        image, guide, weight, bias, g.stride, g.padding, g.output_padding, g.dilation
    )
    around = ((k - 1) * d // 2 for k, d in zip(g.kernel_size, g.dilation, strict=True))
    same = Geometry(g.kernel_size, (1, 1), (next(around), next(around)), g.dilation)
    kernel = looped_kernel(guide, same, size)
    torch.testing.assert_close(output, looped_conv_transpose(image, kernel, weight, bias, g))


def test_inv_needs_its_parameters() -> None:
    with pytest.raises(ValueError, match="inv_alpha and inv_lambda"):
        reference.adapting_kernel(normal(1, 1, 3, 3), 3, kernel_type="inv")
