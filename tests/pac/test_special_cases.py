"""What PAC generalises: convolution, bilateral filter, average and detail-preserving pooling."""

from __future__ import annotations

import cv2
import pytest
import torch
import torch.nn.functional as F

from pacbench.pac import PacConv2d, PacConvTranspose2d, PacPool2d, pac_conv2d


@pytest.mark.parametrize("padding", [0, 4], ids=["valid", "padded"])
def test_constant_guide_is_conv2d(backend: str, padding: int) -> None:
    layer = PacConv2d(4, 3, 5, stride=2, padding=padding, dilation=2, backend=backend)
    image, guide = torch.rand(2, 4, 21, 17), torch.full((2, 5, 21, 17), 0.7)
    expected = F.conv2d(image, layer.weight, layer.bias, 2, padding, 2)
    torch.testing.assert_close(layer(image, guide), expected)


def test_constant_guide_is_conv_transpose2d_of_the_flipped_weight(backend: str) -> None:
    layer = PacConvTranspose2d(4, 3, 5, stride=2, padding=2, output_padding=1, backend=backend)
    image, guide = torch.rand(2, 4, 9, 8), torch.full((2, 5, 18, 16), 0.7)
    expected = F.conv_transpose2d(image, layer.weight.flip(2, 3), layer.bias, 2, 2, 1)
    torch.testing.assert_close(layer(image, guide), expected)


def test_constant_guide_is_avg_pool2d(backend: str) -> None:
    image, guide = torch.rand(2, 4, 9, 11), torch.full((2, 5, 9, 11), 0.7)
    summed = PacPool2d(5, stride=2, padding=2, backend=backend)
    torch.testing.assert_close(summed(image, guide), 25 * F.avg_pool2d(image, 5, 2, 2))
    mean = PacPool2d(5, stride=2, padding=2, normalize_kernel=True, backend=backend)
    expected = F.avg_pool2d(image, 5, 2, 2, count_include_pad=False)
    torch.testing.assert_close(mean(image, guide), expected)


def test_gaussian_filter_is_the_joint_bilateral_filter(backend: str) -> None:
    """On a grey guide; OpenCV measures colours by the 1-norm and has a round window."""
    radius, sigma_color, sigma_space = 3, 0.3, 2.0
    image, guide = torch.rand(1, 1, 40, 31), torch.rand(1, 1, 40, 31)
    expected = cv2.ximgproc.jointBilateralFilter(
        guide[0, 0].numpy(), image[0, 0].numpy(), 2 * radius + 1, sigma_color, sigma_space
    )
    offsets = torch.arange(-radius, radius + 1)
    squared = offsets[:, None] ** 2 + offsets**2
    weight = torch.exp(-squared / (2 * sigma_space**2)) * (squared <= radius**2)

    def filtered(values: torch.Tensor) -> torch.Tensor:
        return pac_conv2d(values, guide / sigma_color, weight[None, None], backend=backend)

    output = filtered(image) / filtered(torch.ones_like(image))
    interior = torch.from_numpy(expected)[radius:-radius, radius:-radius]
    torch.testing.assert_close(output[0, 0], interior, rtol=0, atol=2e-6)


@pytest.mark.parametrize("asym", [False, True])
def test_detail_preserving_pooling(backend: str, asym: bool) -> None:
    """Saeedan et al.'s pooling of an image by itself: pixels that stand out weigh more."""
    alpha, power = 0.2, 1.5
    kernel_type = f"inv_{alpha}_{power}{'_asym' if asym else ''}"
    layer = PacPool2d(
        3,
        stride=2,
        kernel_type=kernel_type,
        smooth_kernel_type="gaussian",
        channel_wise=True,
        normalize_kernel=True,
        out_channels=2,
        backend=backend,
    )
    image = torch.rand(1, 2, 9, 7)
    line = torch.tensor([0.25, 0.5, 0.25])
    smooth = torch.outer(line, line)
    expected = torch.empty(1, 2, 4, 3)
    for c in range(2):
        for y in range(4):
            for x in range(3):
                window = image[0, c, 2 * y : 2 * y + 3, 2 * x : 2 * x + 3]
                difference = window - (window * smooth).sum()
                if asym:
                    difference = difference.clamp(min=0)
                weight = alpha + (difference**2 + 1e-4) ** (power / 2)
                expected[0, c, y, x] = (weight * window).sum() / weight.sum()
    torch.testing.assert_close(layer(image, image), expected)


def test_linear_filler_interpolates(backend: str) -> None:
    """A transposed layer that starts as linear interpolation grows a ramp into a ramp."""
    rows, columns = torch.meshgrid(torch.arange(6.0), torch.arange(5.0), indexing="ij")
    image = torch.stack([rows + 2 * columns, 3 - columns])[None]
    guide = torch.zeros(1, 1, 17, 14)
    for normalize_kernel in (False, True):
        layer = PacConvTranspose2d(
            2,
            2,
            5,
            stride=3,
            padding=2,
            output_padding=1,
            filler="linear",
            normalize_kernel=normalize_kernel,
            backend=backend,
        )
        grown = layer(image, guide)[:, :, 3:13, 3:10]
        y, x = torch.arange(3.0, 13)[:, None] / 3, torch.arange(3.0, 10) / 3
        expected = torch.stack([y + 2 * x, (3 - x).expand(10, -1)])[None]
        torch.testing.assert_close(grown, expected)
