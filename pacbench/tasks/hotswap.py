"""Segmentation by a network: the image alone in, label scores out, scored as CRFs are."""

from __future__ import annotations

from pydantic import Field

from pacbench.data.base import Sample
from pacbench.metrics import SegmentationScore
from pacbench.protocols.base import ProtocolParams
from pacbench.tasks.base import tasks
from pacbench.tasks.crf import CRFTask


class HotswapProtocol(ProtocolParams):
    """What networks are to tell apart."""

    classes: int = Field(21, ge=2, le=255, description="labels of the data, background included")


@tasks.register("hotswap")
class HotswapTask(CRFTask):
    """Scores (L, H, W) label scores by their argmax against the labels."""

    Protocol = HotswapProtocol

    def __init__(self, example: Sample, protocol: HotswapProtocol) -> None:
        if example.labels is None:
            raise ValueError(f"sample '{example.name}' has no labels to score against")
        self._score = SegmentationScore(protocol.classes)
        self.protocol = self._score.protocol
