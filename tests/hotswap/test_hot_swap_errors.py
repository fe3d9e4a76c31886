"""What hot_swap refuses: messages name the layer, its value and near names; the model stays."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.parametrizations import weight_norm

from pacbench.pac import PacConv2d, hot_swap


class Zoo(nn.Module):
    """One layer for each reason to be refused."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 4, 3, padding=1)
        self.grouped = nn.Conv2d(4, 4, 3, padding=1, groups=2)
        self.even = nn.Conv2d(4, 4, (4, 3))
        self.mirrored = nn.Conv2d(4, 4, 3, padding=1, padding_mode="reflect")
        self.normed = weight_norm(nn.Conv2d(4, 4, 3, padding=1))
        self.relu = nn.ReLU()
        self.pac = PacConv2d(4, 4, 3)


@pytest.mark.parametrize(
    ("layers", "guide", "message"),
    [
        ("frist", "first", "no layer 'frist'; near names: first"),
        ("conv9_*", "first", "no layer 'conv9_*'; it has first, grouped, even"),
        ("", "first", "no layer ''"),
        ([], "first", "layers is empty"),
        ("relu", "first", "layer 'relu' is a ReLU, not an nn.Conv2d"),
        ("re*", "first", "layer 'relu' is a ReLU, not an nn.Conv2d"),
        ("grouped", "first", "layer 'grouped' has groups=2; PAC has no groups"),
        ("even", "first", "layer 'even' has kernel_size=(4, 3); PAC needs odd sizes"),
        ("mirrored", "first", "layer 'mirrored' has padding_mode='reflect'; PAC pads with zeros"),
        ("normed", "first", "layer 'normed' is a ParametrizedConv2d, which computes more"),
        ("pac", "first", "layer 'pac' is a PAC layer already; unswap"),
        ("first", "frist", "no layer 'frist' to guide; near names: first"),
        ("first", "", "no layer '' to guide"),
        ("first", "first", "layer 'first' would be guided itself: the guide is computed after"),
    ],
)
def test_refused(layers: Any, guide: str, message: str) -> None:
    model = Zoo()
    before = str(model)
    with pytest.raises(ValueError, match=re.escape(message)):
        hot_swap(model, layers, guide)
    assert str(model) == before
    assert not any(module._forward_hooks for module in model.modules())


@pytest.mark.parametrize("refused", ["grouped", "even", "mirrored", "normed", "relu", "pac"])
def test_near_names_are_of_layers_that_can_be_swapped(refused: str) -> None:
    with pytest.raises(ValueError, match=r"; near names that can be swapped: first$"):
        hot_swap(Zoo(), refused, "first")


def test_the_nearest_names_come_first(resnet: nn.Module) -> None:
    with pytest.raises(ValueError, match=r"is a BatchNorm2d.*can be swapped: layer1.0.conv1, lay"):
        hot_swap(resnet, "layer1.0.bn1", "conv1")


def test_guide_that_contains_the_layer(resnet: nn.Module) -> None:
    with pytest.raises(ValueError, match=r"'layer2.0.conv1' would be guided by 'layer2', which"):
        hot_swap(resnet, "layer2.0.conv1", "layer2")


def test_guide_computed_after_the_layer(vgg: nn.Module) -> None:
    model = hot_swap(vgg, "features.3", "features.5")
    for _ in range(2):  # what the first pass computed does not serve the second
        with pytest.raises(
            ValueError,
            match=r"'features.3' was called before its guide 'features.5' was computed; .* near "
            r"names that it defines earlier: features.2, features.1, features.0$",
        ):
            model(torch.zeros(1, 3, 32, 32))


def test_guide_that_is_no_image() -> None:
    class Pair(nn.Module):
        def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
            return image, image

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.pair, self.conv = Pair(), nn.Conv2d(3, 3, 3)

        def forward(self, image: Tensor) -> Tensor:
            out: Tensor = self.conv(self.pair(image)[0])
            return out

    model = hot_swap(Model(), "conv", "pair")
    with pytest.raises(ValueError, match="guide 'pair' gives tuple; expected"):
        model(torch.zeros(1, 3, 8, 8))


def test_guide_of_another_batch() -> None:
    class Patches(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.stem, self.conv = nn.Conv2d(3, 4, 3), nn.Conv2d(4, 4, 3)

        def forward(self, image: Tensor) -> Tensor:
            halves = torch.cat(self.stem(image).chunk(2, dim=3))
            out: Tensor = self.conv(halves)
            return out

    model = hot_swap(Patches(), "conv", "stem")
    with pytest.raises(
        ValueError, match=r"'conv' has an input of shape \(2, 4, .*'stem' gave \(1, 4"
    ):
        model(torch.zeros(1, 3, 10, 10))
