"""Layers that begin by carrying their first channels through, so that a network begins as a filter.

A network that has to learn from scratch to copy its input spends most of a small budget on that.
"""

from __future__ import annotations

import torch
from torch import nn

from pacbench.pac.layers import PacConvTranspose2d

GROW = (0.25, 0.75, 0.75, 0.25)
"""Taps of a window of an even output pixel, from two pixels before it, on an input spread by two.

An input pixel then lies between two output pixels, as in ``F.interpolate`` (``align_corners``
False): twice such steps are bilinear growth by four.
"""


@torch.no_grad()
def carry_(layer: nn.Conv2d, channels: int, to: int = 0, gain: float = 1.0) -> None:
    """Let output channels, from ``to`` on, be the first input channels times ``gain``."""
    assert layer.bias is not None  # noqa: S101, all layers here have one
    layer.weight[to : to + channels] = 0
    layer.bias[to : to + channels] = 0
    middle = layer.kernel_size[0] // 2
    for channel in range(channels):
        layer.weight[to + channel, channel, middle, middle] = gain


@torch.no_grad()
def ones_(layer: nn.Conv2d, channel: int) -> None:
    """Let an output channel be 1 everywhere."""
    assert layer.bias is not None  # noqa: S101, as above
    layer.weight[channel] = 0
    layer.bias[channel] = 1


@torch.no_grad()
def carry_grown_(layer: PacConvTranspose2d, channels: int) -> None:
    """Let the first output channels be the first input ones, grown bilinearly where K is 1."""
    assert layer.bias is not None  # noqa: S101, as above
    line = torch.tensor((*GROW, 0.0))
    layer.weight[:, :channels] = 0
    layer.bias[:channels] = 0
    for channel in range(channels):
        layer.weight[channel, channel] = torch.outer(line, line)
