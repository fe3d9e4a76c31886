"""Hand-made guides: positions and colours over their scales, as the release makes them."""

from __future__ import annotations

import pytest
import torch

from pacbench.pac import create_position_feats, create_YXRGB


def test_positions_are_rows_then_columns() -> None:
    features = create_position_feats((3, 4), bs=2)
    assert features.shape == (2, 2, 3, 4)
    assert features[1, 0].tolist() == [[0.0] * 4, [1.0] * 4, [2.0] * 4]
    assert features[1, 1].tolist() == [[0.0, 1.0, 2.0, 3.0]] * 3


@pytest.mark.parametrize(("scales", "y", "x"), [(2.0, 2, 2), ([4.0, 0.5], 4, 0.5)])
def test_positions_are_divided_by_their_scales(scales: float | list[float], y: int, x: int) -> None:
    features = create_position_feats((3, 4), scales)
    assert features[0, :, 2, 3].tolist() == [2 / y, 3 / x]


def test_colours_follow_positions() -> None:
    image = torch.rand(2, 3, 5, 6)
    features = create_YXRGB(image, yx_scale=10.0, rgb_scale=[1.0, 2.0, 4.0])
    assert features.shape == (2, 5, 5, 6)
    torch.testing.assert_close(features[:, :2], create_position_feats((5, 6), 10.0, 2))
    torch.testing.assert_close(features[:, 2:], image / torch.tensor([1, 2, 4]).view(3, 1, 1))
    torch.testing.assert_close(create_YXRGB(image[0])[:, 2:], image[:1])


def test_five_scales_at_once_are_learned() -> None:
    image = torch.rand(1, 3, 5, 6, dtype=torch.float64)
    scales = torch.tensor([10.0, 10.0, 1.0, 2.0, 4.0], requires_grad=True)
    features = create_YXRGB(image, scales=scales)
    assert features.dtype == torch.float64
    torch.testing.assert_close(features, create_YXRGB(image, 10.0, [1.0, 2.0, 4.0]))
    features.sum().backward()
    assert scales.grad is not None
    assert (scales.grad < 0).all()
    with pytest.raises(ValueError, match="scales is given beside yx_scale"):
        create_YXRGB(image, yx_scale=10.0, scales=scales)
