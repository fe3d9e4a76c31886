"""Training of upsampling networks: crops and flips; RMSE of depth, end-point error of flow."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pacbench.data.base import Sample
from pacbench.metrics.upsampling import DEPTH_BORDER, inside_border
from pacbench.protocols import UpsampleProtocol
from pacbench.protocols.lowres import Map, fill_invalid
from pacbench.tasks.upsample import UpsampleTask
from pacbench.train.augment import smoothed, textured
from pacbench.train.learning import Learning, learnings
from pacbench.train.spec import TrainingSpec

MIRRORED = np.array([-1, 1], np.float32)[:, None, None]
TINY = 1e-12
"""Under a root, whose slope at 0 is infinite."""


class Batch(NamedTuple):
    """Crops of B samples with C channels, on the device.

    Attributes:
        low: (B, C, h, w) in [0, 1]; a network of one channel takes each of them by itself.
        guide: (B, 3, H, W) in [0, 1].
        truth: (B, C, H, W) in metres or pixels.
        counted: (B, H, W), 1 where the truth is known and scored, else 0.
        minimum, span: (B, C, 1, 1) that bring outputs to the truth's units.
    """

    low: Tensor
    guide: Tensor
    truth: Tensor
    counted: Tensor
    minimum: Tensor
    span: Tensor


@learnings.register("upsample")
class UpsampleLearning(Learning):
    """Batches made by the protocol of the cell, for a module from low and guide to the map."""

    @property
    def protocol(self) -> UpsampleProtocol:
        return UpsampleProtocol(**self.cell.protocol)

    def batch(self, number: int, progress: float = 0.0) -> Batch:
        draw = random.Random(f"{self.seed}/{number}")  # noqa: S311, crops are no secrets
        spec = self.spec.at(progress)
        crops = [self._crop(draw, spec) for _ in range(spec.batch)]
        return Batch(*(torch.stack(parts).to(self.device) for parts in zip(*crops, strict=True)))

    def loss(self, module: nn.Module, batch: Batch) -> Tensor:
        output = module(batch.low, batch.guide) * batch.span + batch.minimum
        squared = (output - batch.truth).square().sum(dim=1)
        pixels = batch.counted.sum(dim=(1, 2)).clamp(min=1)
        if self.protocol.target == "depth":
            mean = (squared * batch.counted).sum(dim=(1, 2)) / pixels
            return (mean + TINY).sqrt().mean()
        return (((squared + TINY).sqrt() * batch.counted).sum(dim=(1, 2)) / pixels).mean()

    def validate(self, module: nn.Module) -> float:
        """The task's goal over the validation samples, negated: larger is better."""
        protocol = self.protocol
        task = UpsampleTask(self.validation_sample(0), protocol)
        for index in self.held_out:
            sample = self.validation_sample(index)
            inputs = protocol.inputs_of(sample, self.seed)
            low, guide = (torch.from_numpy(a).to(self.device) for a in (inputs.low, inputs.guide))
            task.score(inputs.finish(module(low, guide).cpu().numpy()), sample)
        return -task.summary()[task.goal]

    def _crop(self, draw: random.Random, spec: TrainingSpec) -> Batch:
        protocol = self.protocol
        sample = self.training_sample(draw.randrange(len(self.training)))
        target = protocol.target_of(sample)
        known: NDArray[np.bool_] = np.ones(sample.image.shape[1:], bool)
        if sample.valid is not None:
            target, known = fill_invalid(target, sample.valid), sample.valid
        image = sample.image
        if draw.random() < 0.5:
            image, target, known = image[..., ::-1], target[..., ::-1], known[..., ::-1]
            if protocol.target == "flow":
                target = target * MIRRORED  # u points the other way
        whole = target
        windows = [self._window(sample, draw) for _ in range(spec.candidates)]
        window = max(windows, key=lambda window: float(target[window].std(axis=(1, 2)).sum()))
        image, target, known = image[window], target[window], known[window]
        if protocol.target == "depth":
            known = known & inside_border((known.shape[0], known.shape[1]), DEPTH_BORDER)
        image, target = self._augmented(image, target, draw, spec)
        inputs = protocol.inputs(target, image, draw.getrandbits(32), whole)
        low, minimum, span = (
            part.reshape(-1, *part.shape[2:]) for part in (inputs.low, inputs.minimum, inputs.span)
        )
        parts = (low, inputs.guide[0], target, known.astype(np.float32), minimum, span)
        return Batch(*(torch.from_numpy(np.ascontiguousarray(part)) for part in parts))

    def _augmented(
        self, image: NDArray[np.uint8], target: Map, draw: random.Random, spec: TrainingSpec
    ) -> tuple[NDArray[np.uint8], Map]:
        """With what real pairs have and generated ones lack."""
        if spec.smooth and draw.random() < spec.smooth:
            target = smoothed(target, self.protocol.factor)
        if spec.texture:
            image = textured(image, spec.texture * draw.random() ** 2, draw)
        return image, target

    def _window(self, sample: Sample, draw: random.Random) -> Any:
        """A random crop as an index."""
        factor = self.protocol.factor
        height, width = sample.image.shape[1:]
        rows, columns = (max(side, self.spec.low_crop * factor) for side in self.spec.crop)
        if rows > height or columns > width:
            raise ValueError(
                f"crop is {rows}×{columns}, but sample '{sample.name}' is {height}×{width}; "
                "lower `crop` or `low_crop` in the suite's `training:`"
            )
        if rows % factor or columns % factor:
            raise ValueError(
                f"crop is {rows}×{columns}; training at factor {factor} needs multiples of it"
            )
        top, left = draw.randint(0, height - rows), draw.randint(0, width - columns)
        return np.s_[..., top : top + rows, left : left + columns]
