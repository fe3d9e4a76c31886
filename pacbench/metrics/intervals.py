"""How well a metric of a split is known from the images that it has: intervals by the jackknife.

Each image is left out in turn; how the metric moves tells its standard error, and Student's t for
the number of images gives the interval. For a mean over images that is the textbook interval; it
serves the mIoU of a split, which is no mean over images, as well. Two methods on the same images
are paired by subtracting what leaving out the same image does to each.

On simulated splits of 4 to 40 images, these intervals hold the true mIoU in 95 to 98 % of cases
where they should in 95 %; percentiles of a bootstrap over images do in 82 to 94 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from pacbench.timing.intervals import Estimate

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Evidence:
    """A metric over a split, and over the split without each of its images.

    Attributes:
        images: their names.
        whole: the metric over all of them.
        without: (images,) the metric with that image left out.
    """

    images: tuple[str, ...]
    whole: float
    without: Array

    def __sub__(self, other: Evidence) -> Evidence:
        """The difference on the same images; ``ValueError`` where they are others."""
        if self.images != other.images:
            raise ValueError("only scores on the same images can be paired")
        return Evidence(self.images, self.whole - other.whole, self.without - other.without)

    def __add__(self, other: Evidence) -> Evidence:
        return self - other * -1

    def __mul__(self, factor: float) -> Evidence:
        return Evidence(self.images, self.whole * factor, self.without * factor)

    def estimate(self, confidence: float = 0.95) -> Estimate:
        """The metric and its interval, which a single image leaves unbounded."""
        count = len(self.images)
        if count < 2:
            return Estimate(self.whole, -np.inf, np.inf)
        spread = self.without - self.without.mean()
        error = float(np.sqrt((count - 1) / count * (spread**2).sum()))
        reach = float(stdtrit(count - 1, 0.5 + confidence / 2)) * error
        return Estimate(self.whole, self.whole - reach, self.whole + reach)


def mean_over(images: Sequence[str], values: Sequence[float]) -> Evidence:
    """A metric that is the mean of its value on each image."""
    array = np.asarray(values, dtype=float)
    rest = (array.sum() - array) / max(len(array) - 1, 1)
    return Evidence(tuple(images), float(array.mean()), rest)


def mean_iou_over(images: Sequence[str], counts: NDArray[np.integer]) -> Evidence:
    """The mIoU of a split from the (images, classes, 2) intersections and unions of its images."""
    total = counts.sum(axis=0)
    without = np.array([_mean_iou(total - image) for image in counts])
    return Evidence(tuple(images), _mean_iou(total), without)


def _mean_iou(counts: NDArray[np.integer]) -> float:
    """Over the classes that occur; 0 if none does."""
    occurs = counts[:, 1] > 0
    ratios = counts[occurs, 0] / counts[occurs, 1]
    return float(ratios.mean()) if len(ratios) else 0.0
