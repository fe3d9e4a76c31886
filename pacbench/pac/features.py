"""Hand-made guides: pixel positions, and positions with colours."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

Scale = float | Sequence[float] | Tensor


def create_position_feats(
    shape: tuple[int, int],
    scales: Scale | None = None,
    bs: int = 1,
    device: torch.device | str | None = None,
) -> Tensor:
    """Rows and columns of every pixel, divided by ``scales`` (one, or one for y and one for x).

    Returns:
        (bs, 2, H, W), y first.
    """
    rows, columns = (torch.arange(n, dtype=torch.float32, device=device) for n in shape)
    position = torch.stack(torch.meshgrid(rows, columns, indexing="ij"))
    return _scaled(position, scales).expand(bs, -1, -1, -1)


def create_YXRGB(  # noqa: N802 - the release's name
    img: Tensor,
    yx_scale: Scale | None = None,
    rgb_scale: Scale | None = None,
    scales: Scale | None = None,
) -> Tensor:
    """Positions and colours of every pixel of ``img`` (B, 3, H, W) or (3, H, W).

    Args:
        img: colours.
        yx_scale: what positions are divided by; one value or two.
        rgb_scale: what colours are divided by; one value or three.
        scales: both at once, five values: y, x, r, g, b.

    Returns:
        (B, 5, H, W).
    """
    if scales is not None:
        if yx_scale is not None or rgb_scale is not None:
            raise ValueError("scales is given beside yx_scale or rgb_scale; give one or the other")
        scales = torch.as_tensor(scales, dtype=torch.float32, device=img.device)
        yx_scale, rgb_scale = scales[:2], scales[2:]
    img = img.reshape(-1, *img.shape[-3:])
    size = (img.shape[-2], img.shape[-1])
    position = create_position_feats(size, yx_scale, img.shape[0], img.device)
    return torch.cat([position.to(img.dtype), _scaled(img, rgb_scale)], dim=1)


def _scaled(features: Tensor, scales: Scale | None) -> Tensor:
    if scales is None:
        return features
    scales = torch.as_tensor(scales, dtype=torch.float32, device=features.device)
    return features / scales.view(-1, 1, 1)
