"""f_i smoothed: where the filter lies, and what it does to K."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from pacbench.pac import PacConv2d, packernel2d

WINDOWS = [
    pytest.param({"kernel_size": 3, "padding": 1}, id="same"),
    pytest.param({"kernel_size": 5}, id="valid"),
    pytest.param({"kernel_size": 5, "stride": 2, "padding": 2}, id="stride"),
    pytest.param({"kernel_size": (3, 5), "padding": (0, 2), "dilation": (2, 3)}, id="dilation"),
    pytest.param({"kernel_size": 1}, id="one-tap"),
]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("smooth", ["gaussian", "average_5", "full_3"])
def test_the_middle_of_each_window_is_smoothed(window: dict, smooth: str, backend: str) -> None:
    """K with a smoothed centre is K of a stack: the guide, its middle replaced by the smoothed."""
    guide = torch.rand(2, 3, 17, 19)
    filters = {
        "gaussian": torch.tensor([[1.0, 2, 1], [2, 4, 2], [1, 2, 1]]) / 16,
        "average_5": torch.full((5, 5), 1 / 25),
        "full_3": torch.rand(3, 3),
    }
    smooth_kernel = filters[smooth][None, None]
    margin = smooth_kernel.shape[2] // 2
    planes = guide.view(6, 1, 17, 19)
    smoothed = F.conv2d(planes, smooth_kernel, padding=margin).view_as(guide)

    given = None if smooth != "full_3" else smooth_kernel
    kernel, _ = packernel2d(
        guide, smooth_kernel_type=smooth, smooth_kernel=given, backend=backend, **window
    )

    kh, kw = (window["kernel_size"],) * 2 if "dilation" not in window else window["kernel_size"]
    stride, padding = window.get("stride", 1), window.get("padding", 0)
    shape = (2, 3, kh, kw, *kernel.shape[4:])
    columns = [
        F.unfold(image, (kh, kw), window.get("dilation", 1), padding, stride).view(shape)
        for image in (guide, smoothed)
    ]
    difference = columns[0] - columns[1][:, :, kh // 2, kw // 2, None, None].view(
        2, 3, 1, 1, *kernel.shape[4:]
    )
    expected = torch.exp(-0.5 * (difference**2).sum(dim=1, keepdim=True))
    torch.testing.assert_close(kernel, expected)


def test_smoothing_with_one_pixel_does_nothing(backend: str) -> None:
    image, guide = torch.rand(1, 2, 8, 9), torch.rand(1, 3, 8, 9)
    smoothed = PacConv2d(2, 3, 3, smooth_kernel_type="average_1", backend=backend)
    plain = PacConv2d(2, 3, 3, backend=backend)
    plain.load_state_dict({k: v for k, v in smoothed.state_dict().items() if k != "smooth_kernel"})
    torch.testing.assert_close(smoothed(image, guide), plain(image, guide))


@pytest.mark.parametrize(
    ("smooth", "learned", "values"),
    [
        (
            "gaussian",
            False,
            [[1 / 16, 1 / 8, 1 / 16], [1 / 8, 1 / 4, 1 / 8], [1 / 16, 1 / 8, 1 / 16]],
        ),
        ("average_3", False, [[1 / 9] * 3] * 3),
        ("full_5", True, [[1 / 25] * 5] * 5),
    ],
)
def test_smooth_kernels(smooth: str, learned: bool, values: list[list[float]]) -> None:
    layer = PacConv2d(1, 1, 3, smooth_kernel_type=smooth)
    torch.testing.assert_close(layer.smooth_kernel.detach(), torch.tensor([[values]]))
    assert isinstance(layer.smooth_kernel, torch.nn.Parameter) == learned
    assert "smooth_kernel" in layer.state_dict()


def test_full_smoothing_needs_its_filter() -> None:
    with pytest.raises(ValueError, match="needs a smooth_kernel"):
        packernel2d(torch.rand(1, 1, 5, 5), kernel_size=3, smooth_kernel_type="full_3")
