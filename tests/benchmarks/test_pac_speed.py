"""PAC on the CPU against the convolution it replaces and against the unfolding reference.

21→21 channels, 5×5, dilation 16, 375×500, batch 1, float32, two threads, unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from pacbench import kernels

pytestmark = [pytest.mark.usefixtures("two_threads"), pytest.mark.timeout(600)]

CHANNELS, SIZE = 21, (375, 500)
TAPS: dict[str, Any] = {"padding": 32, "dilation": 16}


@pytest.fixture
def image() -> Tensor:
    return torch.randn(1, CHANNELS, *SIZE)


@pytest.fixture
def guide() -> Tensor:
    return torch.randn(1, 3, *SIZE)


@pytest.fixture
def kernel(guide: Tensor) -> Tensor:
    return kernels.adapting_kernel(guide, 5, **TAPS)


@pytest.fixture
def weight() -> Tensor:
    return torch.randn(CHANNELS, CHANNELS, 5, 5)


def test_forward(bars: Any, image: Tensor, guide: Tensor, kernel: Tensor, weight: Tensor) -> None:
    times = bars.race(
        {
            "given": lambda: kernels.pacconv2d(image, kernel, weight, **TAPS, backend="native"),
            "fused": lambda: kernels.pac_conv2d(image, guide, weight, **TAPS, backend="native"),
            "conv2d": lambda: F.conv2d(image, weight, **TAPS),
        }
    )
    given = bars.judge("forward, K given / F.conv2d", times["given"] / times["conv2d"], 0.75)
    fused = bars.judge("forward from the guide / F.conv2d", times["fused"] / times["conv2d"], 1.0)
    assert given
    assert fused


def test_forward_against_unfolding(
    bars: Any, image: Tensor, kernel: Tensor, weight: Tensor
) -> None:
    times = bars.race(
        {
            name: lambda name=name: kernels.pacconv2d(image, kernel, weight, **TAPS, backend=name)
            for name in ("native", "reference")
        }
    )
    ratio = times["native"] / times["reference"]
    assert bars.judge("forward, K given / unfolding reference", ratio, 0.10)


def test_forward_and_backward(bars: Any, image: Tensor, kernel: Tensor, weight: Tensor) -> None:
    leaves = [tensor.requires_grad_() for tensor in (image, kernel, weight)]
    upstream = torch.randn(1, CHANNELS, *SIZE)

    def pac() -> object:
        output = kernels.pacconv2d(image, kernel, weight, **TAPS, backend="native")
        return torch.autograd.grad(output, leaves, upstream)

    def conv2d() -> object:
        return torch.autograd.grad(F.conv2d(image, weight, **TAPS), (image, weight), upstream)

    times = bars.race({"pac": pac, "conv2d": conv2d}, seconds=12)
    ratio = times["pac"] / times["conv2d"]
    assert bars.judge("forward + backward (input, K, weight) / conv2d's", ratio, 1.6)


def test_transposed(bars: Any) -> None:
    image, weight = torch.randn(1, 32, 120, 160), torch.randn(32, 32, 5, 5)
    kernel = torch.rand(1, 1, 5, 5, 240, 320)
    taps: dict[str, Any] = {"stride": 2, "padding": 2, "output_padding": 1}
    times = bars.race(
        {
            "pac": lambda: kernels.pacconv_transpose2d(
                image, kernel, weight, **taps, backend="native"
            ),
            "conv": lambda: F.conv_transpose2d(image, weight, **taps),
        }
    )
    ratio = times["pac"] / times["conv"]
    assert bars.judge("transposed 32→32, stride 2, 240×320 / F.conv_transpose2d", ratio, 1.0)


def test_pooling(bars: Any, image: Tensor) -> None:
    kernel = torch.rand(1, 1, 11, 11, *SIZE)
    times = bars.race(
        {
            name: lambda name=name: kernels.pacpool2d(image, kernel, 11, padding=5, backend=name)
            for name in ("native", "reference")
        }
    )
    ratio = times["native"] / times["reference"]
    assert bars.judge("pooling 11×11, 21 channels / unfolding reference", ratio, 0.15)


# (batch, channels, height, width, kernel size, dilation)
SHAPES = [
    *((1, CHANNELS, *SIZE, k, d) for k in (3, 5, 7) for d in (1, 32, 64)),
    (4, CHANNELS, 188, 250, 5, 1),
    (1, 64, 188, 250, 3, 1),
    (1, 64, 94, 125, 5, 32),
    (4, 64, 94, 125, 5, 1),
    (1, 256, 47, 63, 3, 1),
    (1, 256, 47, 63, 5, 1),
    (4, 256, 24, 32, 3, 1),
]


@pytest.mark.parametrize(
    "shape", SHAPES, ids=["{}x{}ch-{}x{}-k{}-d{}".format(*shape) for shape in SHAPES]
)
def test_no_shape_slower_than_reference(bars: Any, shape: tuple[int, ...]) -> None:
    batch, channels, height, width, size, dilation = shape
    image = torch.randn(batch, channels, height, width)
    guide = torch.randn(batch, 3, height, width)
    weight = torch.randn(channels, channels, size, size)
    taps: dict[str, Any] = {"padding": dilation * (size // 2), "dilation": dilation}
    times = bars.race(
        {
            name: lambda name=name: kernels.pac_conv2d(image, guide, weight, **taps, backend=name)
            for name in ("native", "reference")
        }
        | {"conv2d": lambda: F.conv2d(image, weight, **taps)},
        seconds=2,
    )
    bars.say(
        f"  native {times['native'] * 1e3:8.1f} ms, reference {times['reference'] * 1e3:8.1f} ms, "
        f"F.conv2d {times['conv2d'] * 1e3:8.1f} ms"
    )
    what = (
        f"batch {batch}, {channels}→{channels}, {height}×{width}, {size}×{size}, "
        f"dilation {dilation}, fused / reference"
    )
    assert bars.judge(what, times["native"] / times["reference"], 1.0)


def test_time_grows_linearly(bars: Any) -> None:
    sides = [256, 512, 1024, 2048, 4096]
    weight = torch.randn(3, 3, 3, 3)
    calls = {side: max(1, (2048 // side) ** 2) for side in sides}  # as long as one of 2048²

    def filtering(side: int) -> Callable[[], object]:
        image, guide = torch.randn(1, 3, side, side), torch.randn(1, 1, side, side)
        return lambda: [
            kernels.pac_conv2d(image, guide, weight, padding=1, backend="native")
            for _ in range(calls[side])
        ]

    times = bars.race({str(side): filtering(side) for side in sides}, seconds=12)
    seconds = torch.tensor([times[str(side)] / calls[side] for side in sides])
    pixels = torch.tensor([float(side) ** 2 for side in sides])
    centred = pixels.log() - pixels.log().mean()
    exponent = float((centred * seconds.log()).sum() / (centred * centred).sum())
    rates = ", ".join(f"{rate:.1f}" for rate in (seconds / pixels * 1e9).tolist())
    bars.say(f"  nanoseconds per pixel at sides {sides}: {rates}")
    assert bars.judge("exponent of time over pixels, 256² to 4096²", exponent, 1.1)
