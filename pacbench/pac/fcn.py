"""FCN-8s on VGG-16, the network that the paper refines by CRFs and hot-swaps.

Long, Shelhamer & Darrell, Fully convolutional networks for semantic segmentation, 2015. The keys
of its ``state_dict`` are those of the published Caffe model: ``conv1_1.weight`` …
``upscore8.weight``.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

MEAN_BGR = (104.00698793, 116.66876762, 122.67891434)
"""Mean colour of the images that VGG-16 was trained on."""

GROUPS = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))
"""Channels and number of the convolutions in each group of VGG-16."""

HEAD = 4096
SLIM_WIDTH = 0.125
SLIM_HEAD = 64

Padding = Literal[1, 100]


class FCN8s(nn.Module):
    """Label scores of an image: VGG-16 made convolutional, with skips from pool4 and pool3.

    Args:
        classes: number of labels L.
        padding: of conv1_1. 100, FCN's own, pads the image so far that fc6 needs no padding, and
            crops the scores; 1 pads every layer by itself, which PAC-FCN uses and which spares the
            work on the margin. Weights fit both.
        width: share of the channels of VGG-16's convolutions.
        head: channels of fc6 and fc7; None for ``width`` of 4096.
        dropout: after fc6 and fc7, in training.
        normalised: batch normalisation after every 3×3 convolution, for training without a trained
            VGG-16 to begin from; the Caffe model has none.
    """

    def __init__(
        self,
        classes: int = 21,
        padding: Padding = 100,
        *,
        width: float = 1.0,
        head: int | None = None,
        dropout: float = 0.5,
        normalised: bool = False,
    ) -> None:
        super().__init__()
        if padding not in (1, 100):
            raise ValueError(f"padding is {padding}; expected 100, FCN's own, or 1")
        if not 0 < width <= 1:
            raise ValueError(f"width is {width}; expected a share of VGG-16's channels in (0, 1]")
        self.classes = classes
        self.normalised = normalised
        # Where FCN crops the scores of pool4, of pool3 and of the image.
        self.offsets = (5, 9, 31) if padding == 100 else (0, 0, 0)
        inside = padding == 1  # every layer keeps its input's extent by its own padding

        inputs = 3
        channels = [round(width * full) for full, _ in GROUPS]
        for group, (outputs, (_, count)) in enumerate(zip(channels, GROUPS, strict=True), start=1):
            for index in range(1, count + 1):
                margin = padding if (group, index) == (1, 1) else 1
                conv = nn.Conv2d(inputs, outputs, 3, padding=margin)
                self.add_module(f"conv{group}_{index}", conv)
                if normalised:
                    self.add_module(f"norm{group}_{index}", nn.BatchNorm2d(outputs))
                self.add_module(f"relu{group}_{index}", nn.ReLU(inplace=True))
                inputs = outputs
            self.add_module(f"pool{group}", nn.MaxPool2d(2, ceil_mode=True))
        head = head or round(width * HEAD)
        self.fc6 = nn.Conv2d(inputs, head, 7, padding=3 if inside else 0)
        self.relu6 = nn.ReLU(inplace=True)
        self.drop6 = nn.Dropout2d(dropout)
        self.fc7 = nn.Conv2d(head, head, 1)
        self.relu7 = nn.ReLU(inplace=True)
        self.drop7 = nn.Dropout2d(dropout)
        self.score_fr = nn.Conv2d(head, classes, 1)
        self.score_pool3 = nn.Conv2d(channels[2], classes, 1)
        self.score_pool4 = nn.Conv2d(channels[3], classes, 1)
        self.upscore2 = _Upscore(classes, 2, inside)
        self.upscore8 = _Upscore(classes, 8, inside)
        self.upscore_pool4 = _Upscore(classes, 2, inside)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initial values for training without a trained VGG-16; all scores start at 0."""
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
        for score in (self.score_fr, self.score_pool3, self.score_pool4):
            nn.init.zeros_(score.weight)

    def forward(self, image: Tensor) -> Tensor:
        """Scores (B, L, H, W) of images (B, 3, H, W) as :func:`caffe_input` makes them."""
        pool3 = self._groups(image, 1, 2, 3)
        pool4 = self._groups(pool3, 4)
        pool5 = self._groups(pool4, 5)
        features = self.drop6(self.relu6(self.fc6(pool5)))
        features = self.drop7(self.relu7(self.fc7(features)))
        at_16, at_8, at_1 = self.offsets
        scores = _sum(self.upscore2(self.score_fr(features)), self.score_pool4(pool4), at_16)
        scores = _sum(self.upscore_pool4(scores), self.score_pool3(pool3), at_8)
        return _crop(self.upscore8(scores), at_1, image)

    def _groups(self, features: Tensor, *groups: int) -> Tensor:
        for group in groups:
            for index in range(1, GROUPS[group - 1][1] + 1):
                features = getattr(self, f"conv{group}_{index}")(features)
                if self.normalised:
                    features = getattr(self, f"norm{group}_{index}")(features)
                features = getattr(self, f"relu{group}_{index}")(features)
            features = getattr(self, f"pool{group}")(features)
        return features


def slim_fcn8s(classes: int = 21, padding: Padding = 1, width: float = SLIM_WIDTH) -> FCN8s:
    """FCN-8s for machines without a GPU, trained from the start: few channels, normalised."""
    return FCN8s(classes, padding, width=width, head=SLIM_HEAD, dropout=0.0, normalised=True)


class RefinedFCN(nn.Module):
    """A network and a CRF on its scores, as one module: trained together.

    Args:
        backbone: from :func:`caffe_input` to scores (B, L, H, W).
        crf: from scores and RGB levels (B, 3, H, W) to log marginals (B, L, H, W).
    """

    def __init__(self, backbone: nn.Module, crf: nn.Module) -> None:
        super().__init__()
        self.backbone = backbone
        self.crf = crf

    def forward(self, image: Tensor) -> Tensor:
        """Log marginals (B, L, H, W) of images (B, 3, H, W) as :func:`caffe_input` makes them."""
        refined: Tensor = self.crf(self.backbone(image), image.flip(1))
        return refined


def caffe_input(image: Tensor) -> Tensor:
    """RGB levels (B, 3, H, W), 0 to 255, as the Caffe model takes them: BGR minus the mean."""
    mean = torch.tensor(MEAN_BGR, device=image.device)
    return image.flip(1).float() - mean.view(3, 1, 1)


class _Upscore(nn.ConvTranspose2d):
    """Bilinear growth by a factor, fixed as in FCN, label by label."""

    def __init__(self, classes: int, factor: int, inside: bool) -> None:
        padding = factor // 2 if inside else 0
        super().__init__(classes, classes, 2 * factor, factor, padding, bias=False)
        self.weight.requires_grad_(False)

    def reset_parameters(self) -> None:
        factor = self.stride[0]
        ramp = 1 - (torch.arange(2 * factor) - (factor - 0.5)).abs() / factor
        with torch.no_grad():
            self.weight.zero_()
            for label in range(self.in_channels):
                self.weight[label, label] = ramp[:, None] * ramp


def _sum(grown: Tensor, skip: Tensor, offset: int) -> Tensor:
    """Scores plus those of a skip from ``offset`` on, both cropped to what they share."""
    skip = _crop(skip, offset, grown)
    return _crop(grown, 0, skip) + skip


def _crop(scores: Tensor, offset: int, like: Tensor) -> Tensor:
    height, width = like.shape[2:]
    return scores[:, :, offset : offset + height, offset : offset + width]
