"""Errors of upsampled depth and flow, over the image and near its depth edges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacbench.data.base import Sample
from pacbench.metrics.base import MeanOverImages, Score, need_same_shape

DEPTH_BORDER = 6
"""Pixels left out at each side of a depth map, as the paper does."""

EDGE_RADIUS = 5
"""Pixels within which a depth edge counts as near."""

EDGE_STEP = 0.05
"""A depth edge is a step between 4-neighbours of this share of the nearer depth."""

Mask = NDArray[np.bool_]


def depth_edges(depth: NDArray[np.float32], valid: Mask | None = None) -> Mask:
    """(H, W) True at both pixels of a step between valid 4-neighbours.

    The step is relative to the nearer of the two, so that the floor of a room, which recedes by
    more metres per pixel the farther it is, is not an edge.
    """
    known = np.ones(depth.shape, dtype=bool) if valid is None else valid
    edges = np.zeros(depth.shape, dtype=bool)
    for here, there in (
        (np.s_[:, 1:], np.s_[:, :-1]),
        (np.s_[1:], np.s_[:-1]),
    ):
        near = np.minimum(depth[here], depth[there])
        step = np.abs(depth[here] - depth[there]) > EDGE_STEP * near
        step &= known[here] & known[there]
        edges[here] |= step
        edges[there] |= step
    return edges


def near_edges(edges: Mask, radius: int = EDGE_RADIUS) -> Mask:
    """(H, W) True within ``radius`` pixels (Euclidean) of an edge pixel."""
    import cv2

    if not edges.any():
        return np.zeros(edges.shape, dtype=bool)
    distance = cv2.distanceTransform((~edges).view(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    return np.asarray(distance <= radius, dtype=bool)


def inside_border(shape: tuple[int, int], border: int) -> Mask:
    """(H, W) False in a frame of ``border`` pixels."""
    inside = np.zeros(shape, dtype=bool)
    height, width = shape
    inside[border : height - border, border : width - border] = True
    return inside


def rmse_cm(output: NDArray[np.floating], depth: NDArray[np.float32], counted: Mask) -> float:
    """Root mean square error in centimetres over the ``counted`` pixels; depths in metres."""
    need_same_shape(output, depth)
    error = output[counted].astype(np.float64) - depth[counted]
    return 100 * float(np.sqrt(np.mean(error**2))) if error.size else float("nan")


def end_point_error(
    output: NDArray[np.floating], flow: NDArray[np.float32], counted: Mask
) -> float:
    """Mean Euclidean distance in pixels over the ``counted`` pixels of two (2, H, W) flows."""
    need_same_shape(output, flow)
    error = output[:, counted].astype(np.float64) - flow[:, counted]
    return float(np.mean(np.hypot(error[0], error[1]))) if error.size else float("nan")


class DepthScore(Score):
    """RMSE in centimetres per image, 6-pixel border left out, mean over images.

    Outputs are (H, W) depths in metres. ``edge_rmse_cm`` counts only pixels within 5 pixels of an
    edge of the true depth.
    """

    def __init__(self, border: int = DEPTH_BORDER) -> None:
        self.border = border
        self.protocol = f"rmse:cm,border{border},image-mean,edge{EDGE_RADIUS}px"
        self._mean = MeanOverImages()

    def add(self, output: NDArray[np.generic], sample: Sample) -> dict[str, float]:
        if sample.depth is None:
            raise ValueError(f"sample '{sample.name}' has no depth to score against")
        depth = sample.depth
        counted = inside_border((depth.shape[0], depth.shape[1]), self.border)
        if sample.valid is not None:
            counted &= sample.valid
        near = near_edges(depth_edges(depth, sample.valid))
        metres = np.asarray(output, dtype=np.float64)
        return self._mean.add(
            {
                "rmse_cm": rmse_cm(metres, depth, counted),
                "edge_rmse_cm": rmse_cm(metres, depth, counted & near),
            }
        )

    def result(self) -> dict[str, float]:
        return self._mean.result()


class FlowScore(Score):
    """End-point error in pixels: no border, mean over the valid pixels of an image, then images.

    Outputs are (2, H, W) flows in pixels.
    """

    protocol = "epe:px,valid,image-mean"

    def __init__(self) -> None:
        self._mean = MeanOverImages()

    def add(self, output: NDArray[np.generic], sample: Sample) -> dict[str, float]:
        if sample.flow is None:
            raise ValueError(f"sample '{sample.name}' has no flow to score against")
        flow = sample.flow
        counted = np.ones(flow.shape[1:], dtype=bool) if sample.valid is None else sample.valid
        error = end_point_error(np.asarray(output, dtype=np.float64), flow, counted)
        return self._mean.add({"epe": error})

    def result(self) -> dict[str, float]:
        return self._mean.result()
