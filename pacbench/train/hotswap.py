"""Training of segmentation networks: crops around objects, cross-entropy, mIoU of held-out ones."""

from __future__ import annotations

import random
from functools import lru_cache

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from pacbench.data.base import IGNORE_LABEL
from pacbench.metrics import SegmentationScore
from pacbench.pac.fcn import caffe_input
from pacbench.suite.cells import Cell
from pacbench.tasks.hotswap import HotswapProtocol
from pacbench.train.learning import Learning, learnings
from pacbench.train.samples import Samples
from pacbench.train.spec import TrainingSpec

Batch = tuple[Tensor, Tensor]
Picture = tuple[NDArray[np.uint8], NDArray[np.uint8]]


@learnings.register("hotswap")
class HotswapLearning(Learning):
    """Batches of (image, labels) for a module from :func:`caffe_input` to label scores.

    Objects are sought out, those that are rare in a picture as often as the others: in crops from
    anywhere, most pixels would be background.
    """

    def __init__(
        self, training: Samples, validation: Samples, spec: TrainingSpec, cell: Cell
    ) -> None:
        super().__init__(training, validation, spec, cell)
        self.classes = HotswapProtocol(**cell.protocol).classes
        self._picture = lru_cache(spec.cached_samples)(self._read)

    def batch(self, number: int, progress: float = 0.0) -> Batch:  # noqa: ARG002, alike throughout
        draw = random.Random(f"{self.seed}/{number}")  # noqa: S311, crops are no secrets
        crops = [self._crop(draw) for _ in range(self.spec.batch)]
        image, labels = (torch.stack(parts).to(self.device) for parts in zip(*crops, strict=True))
        return caffe_input(image), labels.long()

    def loss(self, module: nn.Module, batch: Batch) -> Tensor:
        image, labels = batch
        return F.cross_entropy(module(image), labels, ignore_index=IGNORE_LABEL)

    def validate(self, module: nn.Module) -> float:
        """mIoU over the validation samples."""
        score = SegmentationScore(self.classes)
        for index in self.held_out:
            sample = self.validation_sample(index)
            image = torch.from_numpy(sample.image)[None].to(self.device)
            score.add(module(caffe_input(image))[0].argmax(dim=0).cpu().numpy(), sample)
        return score.result()["miou"]

    def _read(self, index: int) -> Picture:
        """What is kept of a training sample: its depth and flow would take most of the memory."""
        sample = self.training[index]
        if sample.labels is None:
            raise ValueError(f"sample '{sample.name}' has no labels to learn from")
        return sample.image, sample.labels

    def _crop(self, draw: random.Random) -> Batch:
        image, labels = self._picture(draw.randrange(len(self.training)))
        present = sorted(set(np.unique(labels).tolist()) - {0, IGNORE_LABEL}) or [0]
        pixels = np.argwhere(labels == draw.choice(present))
        centre = pixels[draw.randrange(len(pixels))] if len(pixels) else (0, 0)
        top, left = (
            _near(draw, int(at), size, wanted)
            for at, size, wanted in zip(centre, labels.shape, self.spec.crop, strict=True)
        )
        height, width = self.spec.crop
        mirrored = draw.random() < 0.5
        parts = []
        for array, outside in ((image, 0), (labels, IGNORE_LABEL)):
            part = torch.from_numpy(array[..., top : top + height, left : left + width].copy())
            missing = (0, width - part.shape[-1], 0, height - part.shape[-2])
            part = F.pad(part, missing, value=outside)  # an image smaller than the crop
            parts.append(part.flip(-1) if mirrored else part)
        return parts[0], parts[1]


def _near(draw: random.Random, centre: int, size: int, crop: int) -> int:
    """Where a crop begins that has ``centre`` somewhere in its middle half."""
    start = centre - draw.randint(crop // 4, 3 * crop // 4)
    return min(max(start, 0), max(size - crop, 0))
