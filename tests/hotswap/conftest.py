"""Networks as others write them: small ones in the manner of torchvision's VGG and ResNet."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from pacbench.pac import hot_swap


class VGG(nn.Module):
    """Convolutions in one ``features``, numbered among ReLUs in place and poolings."""

    def __init__(self, configuration: tuple[int | str, ...] = (8, "M", 8, 16, "M", 16)) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        channels = 3
        for entry in configuration:
            if isinstance(entry, int):
                layers += [nn.Conv2d(channels, entry, 3, padding=1), nn.ReLU(inplace=True)]
                channels = entry
            else:
                layers.append(nn.MaxPool2d(2, 2))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(2)
        self.classifier = nn.Sequential(
            nn.Linear(4 * channels, 16), nn.ReLU(True), nn.Linear(16, 5)
        )

    def forward(self, image: Tensor) -> Tensor:
        features = self.avgpool(self.features(image))
        scores: Tensor = self.classifier(torch.flatten(features, 1))
        return scores


class BasicBlock(nn.Module):
    """Two convolutions and a shortcut; ``relu`` is one module, called twice."""

    def __init__(self, inputs: int, outputs: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, features: Tensor) -> Tensor:
        shortcut = features if self.downsample is None else self.downsample(features)
        out = self.relu(self.bn1(self.conv1(features)))
        out = self.bn2(self.conv2(out))
        out += shortcut
        result: Tensor = self.relu(out)
        return result


class ResNet(nn.Module):
    """Layers named ``layer1.0.conv1``, strides in them, batch normalisation."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = nn.Sequential(BasicBlock(8, 8), BasicBlock(8, 8))
        self.layer2 = nn.Sequential(BasicBlock(8, 16, stride=2), BasicBlock(16, 16))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(16, 5)

    def forward(self, image: Tensor) -> Tensor:
        features = self.maxpool(self.relu(self.bn1(self.conv1(image))))
        features = self.avgpool(self.layer2(self.layer1(features)))
        scores: Tensor = self.fc(torch.flatten(features, 1))
        return scores


@pytest.fixture
def vgg() -> nn.Module:
    return VGG()


@pytest.fixture
def resnet() -> nn.Module:
    return ResNet()


NETWORKS: dict[str, Callable[[], nn.Module]] = {"vgg": VGG, "resnet": ResNet}


@pytest.fixture
def swapped() -> Callable[..., tuple[nn.Module, nn.Module]]:
    """Makes a network, by name, and the same one with layers swapped."""

    def make(
        network: str, layers: str | list[str], guide: str, **options: Any
    ) -> tuple[nn.Module, nn.Module]:
        original = NETWORKS[network]().eval()
        return original, hot_swap(copy.deepcopy(original), layers, guide, **options)

    return make
