"""Segmentation refined by a CRF: image and unary logits in, label scores out, mIoU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor

from pacbench.colours import LABEL_COLOURS
from pacbench.data.base import IGNORE_LABEL, Sample
from pacbench.method import DeviceName, LearnableMethod, MethodParams
from pacbench.metrics import SegmentationScore
from pacbench.pac.mean_field import MeanField
from pacbench.protocols.base import ProtocolParams
from pacbench.tasks.base import Array, Pictures, Task, steps, tasks
from pacbench.train.weights import load_weights


def crf_inputs(sample: Sample) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """The image (3, H, W) and the unary logits (L, H, W) that every CRF starts from."""
    if sample.unary is None:
        raise ValueError(f"sample '{sample.name}' has no unaries; a CRF needs them")
    return sample.image, sample.unary


class TorchCRFParams(MethodParams):
    """What every learnable CRF has."""

    weights: str | None = Field(
        None, description="trained weights: a file, or the name of some that come with pacbench"
    )


class TorchCRF(LearnableMethod):
    """A CRF that is a torch module from logits (B, L, H, W) and image (B, 3, H, W) to log Q."""

    module: MeanField

    def __init__(self, module: MeanField, params: TorchCRFParams, device: DeviceName) -> None:
        self.device = device
        self.module = module
        if params.weights is not None:
            self.weights_sha256 = load_weights(module, params.weights)
        module.to(device).eval()

    def prepare(self, sample: Sample) -> tuple[Tensor, Tensor]:
        image, unary = crf_inputs(sample)
        return (
            torch.from_numpy(unary)[None].to(self.device),
            torch.from_numpy(image)[None].to(self.device),
        )

    def run(self, inputs: tuple[Tensor, Tensor]) -> Tensor:
        """Log marginals (1, L, H, W), everything that depends on the image included."""
        unary, image = inputs
        output: Tensor = self.module(unary, image)
        return output

    def stages(self, inputs: tuple[Tensor, Tensor]) -> Iterator[str]:
        unary, image = inputs
        shared = self.module.set_up(unary, image.to(unary.dtype))
        yield "set-up"
        log_q = unary
        for _ in range(self.module.num_steps):
            log_q = self.module.step(shared, log_q)
            yield "step"

    def finish(self, output: Tensor) -> NDArray[np.floating[Any]]:
        return output[0].cpu().numpy()


@tasks.register("crf")
class CRFTask(Task):
    """Scores (L, H, W) label scores by their argmax against the labels."""

    goal = "miou"

    def __init__(self, example: Sample, protocol: ProtocolParams) -> None:  # noqa: ARG002
        classes = len(crf_inputs(example)[1])
        self._score = SegmentationScore(classes)
        self.protocol = self._score.protocol

    def score(self, output: Array, sample: Sample) -> dict[str, float]:
        return self._score.add(_labels_of(output), sample)

    def counts(self) -> list[tuple[int, int]]:
        return self._score.last.intersections_and_unions()

    def summary(self) -> dict[str, float]:
        return self._score.result()

    def edges(self, sample: Sample) -> int:
        if sample.labels is None:
            return 0
        labels = sample.labels[None].astype(np.float32)
        return steps(np.where(labels == IGNORE_LABEL, np.nan, labels))

    def pictures(self, output: Array, sample: Sample) -> Pictures:
        panels = {
            "image": np.ascontiguousarray(sample.image.transpose(1, 2, 0)),
            "output": LABEL_COLOURS[_labels_of(output)],
        }
        if sample.labels is not None:
            panels["truth"] = LABEL_COLOURS[sample.labels]
            panels["output"] = np.where(
                (sample.labels == IGNORE_LABEL)[..., None], LABEL_COLOURS[255], panels["output"]
            )
        return panels


def _labels_of(output: Array) -> NDArray[np.uint8]:
    return np.asarray(output.argmax(axis=0), dtype=np.uint8)
