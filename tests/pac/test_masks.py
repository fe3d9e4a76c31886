"""Masks and normalisation against their definition, pixel by pixel."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

from pacbench.pac import PacConv2d, PacConvTranspose2d, PacPool2d, packernel2d


def weighed(kernel: Tensor, mask: Tensor, *, normalize: bool, transposed: bool, **g: int) -> Tensor:
    """K (B, C, k, k, Ho, Wo) with the mask (B, 1, H, W) of what is filtered, by the definition."""
    result = torch.zeros_like(kernel)
    batch, channels, size, _, height, width = kernel.shape
    stride, padding, dilation = g["stride"], g["padding"], g["dilation"]
    for b, c, h, w in itertools.product(*map(range, (batch, channels, height, width))):
        inside, valid = torch.zeros(size, size), torch.zeros(size, size)
        for y, x in itertools.product(range(size), repeat=2):
            if transposed:
                shift = [padding - (size - 1 - tap) * dilation for tap in (y, x)]
                row, column = h + shift[0], w + shift[1]
                if row % stride or column % stride:
                    continue
                row, column = row // stride, column // stride
            else:
                row = h * stride - padding + y * dilation
                column = w * stride - padding + x * dilation
            if 0 <= row < mask.shape[2] and 0 <= column < mask.shape[3]:
                inside[y, x] = 1
                valid[y, x] = mask[b, 0, row, column]
        if valid.sum() > 0:
            taps = kernel[b, c, :, :, h, w] * valid
            share = taps.sum() if normalize else valid.sum() / inside.sum()
            result[b, c, :, :, h, w] = taps / share
    return result


@pytest.mark.parametrize("normalize", [False, True], ids=["share", "normalized"])
@pytest.mark.parametrize(
    ("transposed", "stride", "padding", "dilation"),
    [(False, 1, 1, 1), (False, 2, 3, 2), (True, 2, 1, 1), (True, 1, 2, 2)],
)
def test_masked_kernel(
    backend: str, normalize: bool, transposed: bool, stride: int, padding: int, dilation: int
) -> None:
    g = {"stride": stride, "padding": padding, "dilation": dilation}
    size = (6, 7)
    if transposed:
        guide_size = tuple((n - 1) * stride - 2 * padding + 2 * dilation + 1 for n in size)
    else:
        guide_size = size
    guide = torch.rand(2, 3, *guide_size)
    mask = (torch.rand(2, 1, *size) > 0.6).float()
    mask[0, :, :4] = 0  # windows without a valid pixel
    options = {"kernel_size": 3, "transposed": transposed, "backend": backend, **g}
    plain, none = packernel2d(guide, **options)
    assert none is None
    kernel, output_mask = packernel2d(guide, mask, normalize_kernel=normalize, **options)
    expected = weighed(plain, mask, normalize=normalize, transposed=transposed, **g)
    torch.testing.assert_close(kernel, expected)
    assert output_mask is not None
    assert output_mask.dtype == torch.uint8
    seen = (expected != 0).any(dim=3, keepdim=True).any(dim=2, keepdim=True)
    assert 0 < seen.sum() < seen.numel()
    assert torch.equal(output_mask.bool(), seen)


@pytest.mark.parametrize("channel_wise", [False, True])
def test_normalized_kernel_sums_to_one_inside_the_image(backend: str, channel_wise: bool) -> None:
    guide = torch.rand(1, 3, 5, 6)
    kernel, mask = packernel2d(
        guide,
        kernel_size=3,
        padding=1,
        normalize_kernel=True,
        channel_wise=channel_wise,
        backend=backend,
    )
    assert mask is None
    assert kernel.shape == (1, 3 if channel_wise else 1, 3, 3, 5, 6)
    torch.testing.assert_close(kernel.sum(dim=(2, 3)), torch.ones_like(kernel[:, :, 0, 0]))
    assert not kernel[..., 0, :, 0, :].any(), "taps above the image count"


LAYERS = [
    pytest.param(lambda **o: PacConv2d(2, 3, 3, padding=1, **o), (7, 6), id="conv"),
    pytest.param(
        lambda **o: PacConvTranspose2d(2, 3, 3, 2, 1, 1, **o), (14, 12), id="conv-transpose"
    ),
    pytest.param(lambda **o: PacPool2d(3, padding=1, **o), (7, 6), id="pool"),
]


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize(("make", "guide_size"), LAYERS)
def test_all_valid_mask_changes_nothing(make, guide_size, normalize: bool, backend: str) -> None:
    layer = make(normalize_kernel=normalize, backend=backend)
    image, guide = torch.rand(2, 2, 7, 6), torch.rand(2, 3, *guide_size)
    output, output_mask = layer(image, guide, None, torch.ones(2, 1, 7, 6))
    torch.testing.assert_close(output, layer(image, guide))
    assert output_mask.shape == (2, 1, 1, 1, *guide_size)
    assert output_mask.all()


@pytest.mark.parametrize(("make", "guide_size"), LAYERS)
def test_invalid_pixels_are_not_seen(make, guide_size, backend: str) -> None:
    layer = make(backend=backend)
    image, guide = torch.rand(1, 2, 7, 6), torch.rand(1, 3, *guide_size)
    mask = torch.rand(1, 1, 7, 6) > 0.5
    output, _ = layer(image, guide, None, mask)
    other, _ = layer(torch.where(mask, image, 9.0), guide, None, mask)
    torch.testing.assert_close(output, other)


def test_an_output_mask_is_a_mask_for_the_next_layer() -> None:
    layer = PacConv2d(2, 2, 3, padding=1)
    image, guide = torch.rand(1, 2, 9, 9), torch.rand(1, 3, 9, 9)
    mask = torch.zeros(1, 1, 9, 9)
    mask[..., 4, 4] = 1
    output, mask_once = layer(image, guide, None, mask)
    _, mask_twice = layer(output, guide, None, mask_once)
    assert mask_once.sum() == 9
    assert mask_twice.sum() == 25


def test_windows_outside_the_image_are_empty() -> None:
    """A transposed layer whose stride exceeds its kernel leaves gaps; their K is 0, not NaN."""
    mask, guide = torch.ones(1, 1, 3, 3), torch.rand(1, 2, 7, 7)
    for normalize in (False, True):
        kernel, output_mask = packernel2d(
            guide,
            mask,
            kernel_size=1,
            stride=3,
            normalize_kernel=normalize,
            transposed=True,
        )
        assert kernel.isfinite().all()
        assert output_mask is not None
        expected = torch.zeros(7, 7, dtype=torch.uint8)
        expected[::3, ::3] = 1
        assert torch.equal(output_mask[0, 0, 0, 0], expected)
