"""Joint upsampling: a low-resolution depth map or flow and an image in, the full map out."""

from __future__ import annotations

import numpy as np

from pacbench.data.base import Sample
from pacbench.data.show import MapColours, unknown_as_nan
from pacbench.metrics import DepthScore, FlowScore
from pacbench.protocols import UpsampleProtocol
from pacbench.protocols.lowres import Map
from pacbench.tasks.base import Array, Pictures, Task, steps, tasks

EDGE = 0.05
"""Share of the truth's range by which neighbours at an edge differ."""


@tasks.register("upsample")
class UpsampleTask(Task):
    """Scores (C, H, W) maps in the sample's units: depth by RMSE, flow by end-point error."""

    Protocol = UpsampleProtocol
    larger_is_better = False

    def __init__(self, example: Sample, protocol: UpsampleProtocol) -> None:
        protocol.target_of(example)  # or say that there is none
        depth = protocol.target == "depth"
        self._inputs = protocol
        self._score = DepthScore() if depth else FlowScore()
        self.goal = self.goal_of(protocol)
        self.protocol = f"{protocol.name}; {self._score.protocol}"

    @classmethod
    def goal_of(cls, protocol: UpsampleProtocol) -> str:
        return "rmse_cm" if protocol.target == "depth" else "epe"

    def score(self, output: Array, sample: Sample) -> dict[str, float]:
        return self._score.add(output[0] if self._inputs.target == "depth" else output, sample)

    def summary(self) -> dict[str, float]:
        return self._score.result()

    def edges(self, sample: Sample) -> int:
        truth = self._truth(sample)
        colours = MapColours.of(truth)
        return steps(truth, EDGE * (colours.high - colours.low))

    def pictures(self, output: Array, sample: Sample) -> Pictures:
        """The image, and the maps as they are: who draws them knows what they are compared with."""
        return {
            "image": np.ascontiguousarray(sample.image.transpose(1, 2, 0)),
            f"input,{self._inputs.name}": self._low(sample),
            "truth": self._truth(sample),
            "output": output.astype(np.float32),
        }

    def _truth(self, sample: Sample) -> Map:
        return unknown_as_nan(self._inputs.target_of(sample), sample.valid)

    def _low(self, sample: Sample) -> Map:
        """The low-resolution map, each of its pixels as a square of the sample's size."""
        inputs, factor = self._inputs.inputs_of(sample), self._inputs.factor
        return inputs.finish(inputs.low.repeat(factor, axis=2).repeat(factor, axis=3))
