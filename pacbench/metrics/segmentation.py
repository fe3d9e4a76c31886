"""Intersection over union from one confusion matrix over the split, and near label edges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacbench.data.base import IGNORE_LABEL, Sample
from pacbench.metrics.base import Score, need_same_shape

TRIMAP_WIDTHS = tuple(range(1, 11))
"""Pixels to either side of a label edge."""


class ConfusionMatrix:
    """Counts of (label, prediction) pairs; pixels labelled 255 do not count.

    Args:
        classes: labels and predictions are in ``range(classes)``.
    """

    def __init__(self, classes: int) -> None:
        self.classes = classes
        self.counts = np.zeros((classes, classes), dtype=np.int64)
        """Row: label, column: prediction."""

    def add(self, prediction: NDArray[np.integer], labels: NDArray[np.integer]) -> ConfusionMatrix:
        """Counts one image, or any part of one; both arrays have the same shape.

        Raises:
            ValueError: a shape or a value that does not fit.
        """
        need_same_shape(prediction, labels)
        counted = labels != IGNORE_LABEL
        label = labels[counted].astype(np.int64)
        predicted = prediction[counted].astype(np.int64)
        for what, values in (("label", label), ("prediction", predicted)):
            if values.size and not 0 <= values.min() <= values.max() < self.classes:
                raise ValueError(
                    f"a {what} is outside 0..{self.classes - 1}: "
                    f"values are in {values.min()}..{values.max()}"
                )
        pairs = np.bincount(label * self.classes + predicted, minlength=self.classes**2)
        self.counts += pairs.reshape(self.classes, self.classes)
        return self

    def intersections_and_unions(self) -> list[tuple[int, int]]:
        """Per class, the pixels that both maps give it and those that either does."""
        hit = np.diag(self.counts)
        union = self.counts.sum(axis=0) + self.counts.sum(axis=1) - hit
        return list(zip(hit.tolist(), union.tolist(), strict=True))

    def iou(self) -> NDArray[np.float64]:
        """(classes,) intersection over union; NaN for a class that neither map has."""
        hit, union = np.array(self.intersections_and_unions()).T
        iou = np.full(self.classes, np.nan)
        np.divide(hit, union, out=iou, where=union > 0)
        return iou

    def mean_iou(self) -> float:
        """Mean over the classes that occur, NaN if none does."""
        iou = self.iou()
        occurs = ~np.isnan(iou)
        return float(iou[occurs].mean()) if occurs.any() else float("nan")

    def accuracy(self) -> float:
        """Share of counted pixels that are right, NaN if none was counted."""
        total = self.counts.sum()
        return float(np.trace(self.counts) / total) if total else float("nan")


def distance_to_label_edge(labels: NDArray[np.integer]) -> NDArray[np.float32]:
    """(H, W) distance in pixels to the nearest label edge; a pixel beside the edge has 1.

    An edge lies between 4-neighbours of different labels; ignored pixels count as a label of their
    own, as Pascal VOC draws its void band along edges.
    """
    import cv2

    height, width = labels.shape
    beside_edge = np.zeros((height, width), dtype=bool)
    across = labels[:, 1:] != labels[:, :-1]
    down = labels[1:] != labels[:-1]
    beside_edge[:, 1:] |= across
    beside_edge[:, :-1] |= across
    beside_edge[1:] |= down
    beside_edge[:-1] |= down
    if not beside_edge.any():
        return np.full((height, width), np.inf, dtype=np.float32)
    away = cv2.distanceTransform((~beside_edge).view(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    return np.asarray(away, dtype=np.float32) + 1


class SegmentationScore(Score):
    """mIoU, pixel accuracy, and the mIoU of a band of 1 to 10 pixels around label edges.

    Outputs are (H, W) integer predictions. ``miou`` over the split is that of the summed confusion
    matrix, not the mean of the images'.
    """

    protocol = "miou:split-confusion,ignore255,trimap1-10"

    def __init__(self, classes: int) -> None:
        self.classes = classes
        self.last = ConfusionMatrix(classes)
        """Of the image that was added last."""
        self._all = ConfusionMatrix(classes)
        self._bands = {width: ConfusionMatrix(classes) for width in TRIMAP_WIDTHS}

    def add(self, output: NDArray[np.generic], sample: Sample) -> dict[str, float]:
        if sample.labels is None:
            raise ValueError(f"sample '{sample.name}' has no labels to score against")
        labels = sample.labels
        prediction = np.asarray(output, dtype=np.int64)
        image = ConfusionMatrix(self.classes).add(prediction, labels)
        self._all.counts += image.counts
        self.last = image
        distance = distance_to_label_edge(labels)
        bands = {}
        for width, total in self._bands.items():
            near = distance <= width
            bands[width] = ConfusionMatrix(self.classes).add(prediction[near], labels[near])
            total.counts += bands[width].counts
        return _summary(image, bands)

    def result(self) -> dict[str, float]:
        return _summary(self._all, self._bands)

    def class_iou(self) -> NDArray[np.float64]:
        """(classes,) IoU over the split."""
        return self._all.iou()


def _summary(whole: ConfusionMatrix, bands: dict[int, ConfusionMatrix]) -> dict[str, float]:
    metrics = {"miou": whole.mean_iou(), "accuracy": whole.accuracy()}
    for width, band in bands.items():
        metrics[f"trimap_iou_{width}"] = band.mean_iou()
    return metrics
