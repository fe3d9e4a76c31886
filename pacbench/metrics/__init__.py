"""Metrics: each scores one image at a time and the split as a whole."""

from pacbench.metrics.base import Score
from pacbench.metrics.segmentation import ConfusionMatrix, SegmentationScore
from pacbench.metrics.upsampling import DepthScore, FlowScore

__all__ = ["ConfusionMatrix", "DepthScore", "FlowScore", "Score", "SegmentationScore"]
