"""Training of CRFs on frozen unaries: crops, cross-entropy, mIoU of held-out samples."""

from __future__ import annotations

import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pacbench.data.base import IGNORE_LABEL
from pacbench.metrics import SegmentationScore
from pacbench.tasks.crf import crf_inputs
from pacbench.train.learning import Learning, learnings

Batch = tuple[Tensor, Tensor, Tensor]


@learnings.register("crf")
class CRFLearning(Learning):
    """Batches of (unary, image, labels) for a module from unary and image to log Q."""

    def batch(self, number: int, progress: float = 0.0) -> Batch:  # noqa: ARG002, alike throughout
        draw = random.Random(f"{self.seed}/{number}")  # noqa: S311, crops are no secrets
        crops = [self._crop(draw) for _ in range(self.spec.batch)]
        unary, image, labels = (torch.stack(parts) for parts in zip(*crops, strict=True))
        return unary.to(self.device), image.to(self.device), labels.to(self.device)

    def loss(self, module: nn.Module, batch: Batch) -> Tensor:
        unary, image, labels = batch
        return F.cross_entropy(module(unary, image), labels, ignore_index=IGNORE_LABEL)

    def validate(self, module: nn.Module) -> float:
        """mIoU over the validation samples."""
        score: SegmentationScore | None = None
        for index in self.held_out:
            sample = self.validation_sample(index)
            image, unary = crf_inputs(sample)
            score = score or SegmentationScore(len(unary))
            output = module(_batch_of_one(unary, self.device), _batch_of_one(image, self.device))
            score.add(output[0].argmax(dim=0).cpu().numpy(), sample)
        return score.result()["miou"] if score else float("nan")

    def _crop(self, draw: random.Random) -> Batch:
        sample = self.training_sample(draw.randrange(len(self.training)))
        image, unary = crf_inputs(sample)
        if sample.labels is None:
            raise ValueError(f"sample '{sample.name}' has no labels to learn from")
        height, width = self.spec.crop
        top = draw.randint(0, max(image.shape[1] - height, 0))
        left = draw.randint(0, max(image.shape[2] - width, 0))
        mirrored = draw.random() < 0.5
        parts = []
        for array, outside in ((unary, 0), (image, 0), (sample.labels, IGNORE_LABEL)):
            part = torch.from_numpy(array[..., top : top + height, left : left + width].copy())
            missing = (0, width - part.shape[-1], 0, height - part.shape[-2])
            part = F.pad(part, missing, value=outside)  # an image smaller than the crop
            parts.append(part.flip(-1) if mirrored else part)
        return parts[0], parts[1], parts[2].long()


def _batch_of_one(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]], device: str) -> Tensor:
    return torch.from_numpy(array)[None].to(device)
