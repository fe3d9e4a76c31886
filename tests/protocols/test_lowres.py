"""The four ways to shrink a map, each against its definition written out."""

import numpy as np
import pytest
import torch
from scipy.ndimage import correlate1d

from pacbench.protocols.lowres import fill_invalid, shrink


def field(height, width, channels=1, seed=0):
    return np.random.default_rng(seed).random((channels, height, width)).astype(np.float32)


@pytest.mark.parametrize(("factor", "offset"), [(2, 0), (3, 1), (4, 1), (8, 3), (16, 7)])
def test_center_is_the_strided_pick(factor, offset):
    target = field(32 * factor // 4 * 4, 16 * factor, 2)
    low = shrink(target, factor, "center")
    for y in range(low.shape[1]):
        for x in range(low.shape[2]):
            np.testing.assert_array_equal(
                low[:, y, x], target[:, factor * y + offset, factor * x + offset]
            )


@pytest.mark.parametrize("factor", [2, 3, 4])
def test_nearest_is_the_pixel_at_the_centre(factor):
    target = field(12 * factor, 5 * factor)
    expected = torch.nn.functional.interpolate(
        torch.from_numpy(target)[None], scale_factor=1 / factor, mode="nearest-exact"
    )[0]
    np.testing.assert_array_equal(shrink(target, factor, "nearest"), expected.numpy())


@pytest.mark.parametrize("factor", [2, 4, 5])
def test_bilinear_is_a_gaussian_and_linear_samples(factor):
    target = field(10 * factor, 8 * factor)
    sigma = (factor - 1) / 2
    radius = int(4 * sigma + 0.5)
    offsets = np.arange(-radius, radius + 1)
    kernel = np.exp(-(offsets**2) / (2 * sigma**2))
    smooth = target[0].astype(np.float64)
    for axis in (0, 1):
        smooth = correlate1d(smooth, kernel / kernel.sum(), axis=axis, mode="mirror")
    # The centre of a cell is a pixel for odd factors, between four for even ones.
    before, after = (factor - 1) // 2, factor // 2
    corners = [smooth[y::factor, x::factor] for y in (before, after) for x in (before, after)]
    np.testing.assert_allclose(
        shrink(target, factor, "bilinear")[0], np.mean(corners, 0), rtol=1e-5
    )


def test_bicubic_is_the_widened_cubic():
    """MATLAB's imresize in one dimension: the kernel of a = -0.5, stretched by the factor."""
    factor, signal = 4, field(1, 64)[0, 0].astype(np.float64)

    def cubic(t):
        t = np.abs(t)
        near = 1.5 * t**3 - 2.5 * t**2 + 1
        far = -0.5 * t**3 + 2.5 * t**2 - 4 * t + 2
        return np.where(t <= 1, near, np.where(t < 2, far, 0))

    centres = (np.arange(16) + 0.5) * factor - 0.5
    weights = cubic((np.arange(64) - centres[:, None]) / factor)
    expected = weights / weights.sum(axis=1, keepdims=True) @ signal
    target = np.repeat(signal[None, :], 64, axis=0).astype(np.float32)[None]
    low = shrink(target, factor, "bicubic")
    np.testing.assert_allclose(low[0, 5, 3:-3], expected[3:-3], rtol=1e-4)


@pytest.mark.parametrize("mode", ["center", "nearest", "bicubic", "bilinear"])
@pytest.mark.parametrize("size", [(1, 1), (7, 9), (59, 97), (64, 33)])
def test_any_size_is_rounded_up(mode, size):
    low = shrink(field(*size), 4, mode)
    assert low.shape == (1, -(-size[0] // 4), -(-size[1] // 4))
    assert low.dtype == np.float32


def test_a_size_that_the_factor_does_not_divide_is_grown_first():
    target = field(10, 14)
    grown = torch.nn.functional.interpolate(
        torch.from_numpy(target)[None], (12, 16), mode="bilinear", align_corners=False
    )[0].numpy()
    np.testing.assert_allclose(shrink(target, 4, "center"), grown[:, 1::4, 1::4], rtol=1e-5)


def test_factor_one_changes_nothing():
    target = field(6, 7)
    for mode in ("center", "nearest", "bilinear"):
        np.testing.assert_array_equal(shrink(target, 1, mode), target)


def test_invalid_pixels_take_the_nearest_value():
    target = np.array([[[5.0, 0.0, 0.0, 0.0, 7.0]]], np.float32)
    valid = np.array([[True, False, False, False, True]])
    filled = fill_invalid(target, valid)[0, 0]
    assert filled[1] == 5
    assert filled[3] == 7
    assert set(filled.tolist()) == {5.0, 7.0}
    np.testing.assert_array_equal(fill_invalid(target, np.ones((1, 5), bool)), target)
    with pytest.raises(ValueError, match="no pixel of the target is valid"):
        fill_invalid(target, np.zeros((1, 5), bool))
