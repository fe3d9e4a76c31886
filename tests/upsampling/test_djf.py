"""The padding of DJF: every layer keeps the size, or as in the paper's release."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pacbench.baselines.upsampling.djf import DJF
from pacbench.method import LearnableMethod, Method


def branch(x: Tensor, layers: nn.Sequential, paddings: tuple[int, int, int]) -> Tensor:
    """Three convolutions with ReLUs between them."""
    first, second, third = (layer for layer in layers if isinstance(layer, nn.Conv2d))
    x = F.relu(F.conv2d(x, first.weight, first.bias, padding=paddings[0]))
    x = F.relu(F.conv2d(x, second.weight, second.bias, padding=paddings[1]))
    return F.conv2d(x, third.weight, third.bias, padding=paddings[2])


def released(network: DJF, low: Tensor, guide: Tensor) -> Tensor:
    """What the release computes: 6 pixels of padding, 2 for each layer of the first branches."""
    grown = F.interpolate(low, scale_factor=network.factor, mode="bilinear", align_corners=False)
    target = branch(grown, network.branch_t, (2, 2, 2))
    guidance = branch(guide, network.branch_g, (2, 2, 2))
    return branch(torch.cat((target, guidance), dim=1), network.branch_joint, (4, 0, 2))


def test_released_weights_give_released_outputs() -> None:
    network = DJF(4, padding="release")
    low, guide = torch.rand(2, 1, 7, 9), torch.rand(2, 3, 28, 36)
    output = network(low, guide)
    assert output.shape == (2, 1, 28, 36)
    torch.testing.assert_close(output, released(network, low, guide))


def test_the_paddings_differ_near_the_border_alone() -> None:
    """Two pixels are lost in the middle layer; 5×5, then 9×9 and 5×5 carry that 8 further in."""
    same, release = DJF(4), DJF(4, padding="release")
    release.load_state_dict(same.state_dict())
    low, guide = torch.rand(1, 1, 9, 9), torch.rand(1, 3, 36, 36)
    apart = (same(low, guide) - release(low, guide)).abs()[0, 0]
    assert apart[0].max() > 1e-3
    torch.testing.assert_close(apart[10:-10, 10:-10], torch.zeros(16, 16))


@pytest.mark.parametrize("name", ["djf", "djf_ours"])
def test_the_padding_is_a_parameter(build: Callable[..., Method], name: str) -> None:
    paddings = []
    for params in ({}, {"padding": "release"}):
        method = build(name, params=params, factor=4)
        assert isinstance(method, LearnableMethod)
        layers = [layer for layer in method.module.branch_g if isinstance(layer, nn.Conv2d)]
        paddings.append([layer.padding[0] for layer in layers])
    assert paddings == [[4, 0, 2], [2, 2, 2]]
