"""Unaries made of the true labels: the noise protocol of the Conv-CRF paper.

Teichmann & Cipolla, "Convolutional CRFs for Semantic Segmentation", 2018: the one-hot label map is
shrunk by 8, a part of the cells is given random classes, and the result is grown back bilinearly,
as a network of stride 8 would give it.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pacbench.data.base import Sample
from pacbench.data.draws import Draws, key_of
from pacbench.data.resize import bilinear
from pacbench.data.unary.base import UnarySource


class NoiseUnary(UnarySource):
    """Labels shrunk, disturbed and grown."""

    name: Literal["noise"] = "noise"
    scale: int = Field(8, ge=1, description="labels are shrunk by this factor")
    keep: float = Field(0.8, ge=0, le=1, description="share of the cells that keep their label")
    gain: float = Field(
        10.0,
        gt=0,
        description="logits are the noisy label weights (0 to 1) times this; the Conv-CRF release "
        "uses 1, at which even a sure pixel has a softmax of only 0.12 with 21 classes",
    )

    @property
    def protocol(self) -> str:
        return f"noise:x{self.scale},keep{self.keep:g},gain{self.gain:g}"

    def logits(self, sample: Sample, classes: int, seed: int) -> NDArray[np.float32]:
        """(classes, H, W) float32; ignored pixels vote for no class.

        Raises:
            ValueError: the sample has no labels.
        """
        if sample.labels is None:
            raise ValueError(f"sample '{sample.name}' has no labels to make noisy unaries from")
        height, width = sample.labels.shape
        cells = (max(height // self.scale, 1), max(width // self.scale, 1))
        draws = Draws(key_of("noise unary", seed, sample.name))

        kept = (draws.units(cells[0] * cells[1]) < np.float32(self.keep)).reshape(cells)
        wrong = _one_hot(_random_classes(draws, cells, classes), classes)
        kept_share = bilinear(kept.astype(np.float32), (height, width))
        # kept * right + (1 - kept) * wrong, in place: these are the largest arrays of a sample.
        logits = bilinear(_shrunk_one_hot(sample.labels, cells, classes), (height, width))
        logits *= kept_share
        noise = bilinear(wrong, (height, width))
        noise *= 1 - kept_share
        logits += noise
        logits *= np.float32(self.gain)
        return logits


def _shrunk_one_hot(
    labels: NDArray[np.uint8], cells: tuple[int, int], classes: int
) -> NDArray[np.float32]:
    """(classes, h, w) bilinear samples of the one-hot map at the cells' centres.

    No anti-aliasing, as scikit-image's ``resize`` had none when the protocol was published; its
    later default differs.
    """
    rows, row_weight = _centres(labels.shape[0], cells[0])
    columns, column_weight = _centres(labels.shape[1], cells[1])
    shrunk = np.zeros((classes, *cells), dtype=np.float32)
    for row in (0, 1):
        for column in (0, 1):
            corner = labels[rows[row][:, None], columns[column][None, :]]
            weight = row_weight[row][:, None] * column_weight[column][None, :]
            shrunk += _one_hot(corner, classes) * weight
    return shrunk


def _centres(
    size: int, cells: int
) -> tuple[tuple[NDArray[np.intp], NDArray[np.intp]], tuple[NDArray[np.float32], ...]]:
    """The two pixels around each cell's centre, and their weights."""
    at = np.clip((np.arange(cells) + 0.5) * (size / cells) - 0.5, 0, size - 1)
    low = at.astype(np.intp)
    weight = (at - low).astype(np.float32)
    return (low, np.minimum(low + 1, size - 1)), (1 - weight, weight)


def _one_hot(labels: NDArray[np.integer], classes: int) -> NDArray[np.float32]:
    """(classes, h, w); a label outside of them, as 255, is all zeros."""
    return np.asarray(labels[None] == np.arange(classes)[:, None, None], dtype=np.float32)


def _random_classes(draws: Draws, cells: tuple[int, int], classes: int) -> NDArray[np.intp]:
    drawn = draws.units(cells[0] * cells[1]) * np.float32(classes)
    return np.minimum(drawn.astype(np.intp), classes - 1).reshape(cells)
