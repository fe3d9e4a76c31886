"""Joint upsampling: a low-resolution depth map or flow and an image in, the full map out."""

from __future__ import annotations

import numpy as np

from pacbench.data.base import Sample
from pacbench.data.show import flow_colours, map_colours
from pacbench.metrics import DepthScore, FlowScore
from pacbench.protocols import UpsampleProtocol
from pacbench.protocols.lowres import Map
from pacbench.tasks.base import Array, Picture, Task, tasks

FULL_ERROR = 0.1
"""Share of the truth's range at which an error map is brightest."""


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
        self.goal = "rmse_cm" if depth else "epe"
        self.protocol = f"{protocol.name}; {self._score.protocol}"

    def score(self, output: Array, sample: Sample) -> dict[str, float]:
        return self._score.add(output[0] if self._inputs.target == "depth" else output, sample)

    def summary(self) -> dict[str, float]:
        return self._score.result()

    def pictures(self, output: Array, sample: Sample) -> dict[str, Picture]:
        """Besides image, truth and output the ``input`` of this protocol and the ``error``.

        All maps are in colours of the truth's range, whatever made them; unknown pixels are black.
        """
        truth = self._inputs.target_of(sample)
        known = np.ones(truth.shape[1:], bool) if sample.valid is None else sample.valid
        error = np.sqrt(((output - truth) ** 2).sum(axis=0))
        brightest = FULL_ERROR * _reach(truth, known)
        return {
            "image": np.ascontiguousarray(sample.image.transpose(1, 2, 0)),
            f"input,{self._inputs.name}": _colours(self._low(sample), truth, known),
            "truth": _blacken(_colours(truth, truth, known), known),
            "output": _colours(output, truth, known),
            "error": _blacken(map_colours(error, 0, brightest, "magma"), known),
        }

    def _low(self, sample: Sample) -> Map:
        """The low-resolution map, each of its pixels as a square of the sample's size."""
        inputs, factor = self._inputs.inputs_of(sample), self._inputs.factor
        return inputs.finish(inputs.low.repeat(factor, axis=2).repeat(factor, axis=3))


def _reach(truth: Map, known: Array) -> float:
    """The range of a depth map, or the longest vector of a flow."""
    values = truth[:, known]
    if not values.size:
        return 1.0
    return float(np.ptp(values) if len(truth) == 1 else np.hypot(*values).max())


def _colours(shown: Array, truth: Map, known: Array) -> Picture:
    reach = _reach(truth, known)
    if len(truth) == 2:
        return flow_colours(shown, reach)
    nearest = float(truth[:, known].min(initial=np.inf)) if known.any() else 0.0
    return map_colours(shown[0], nearest, nearest + reach)


def _blacken(picture: Picture, known: Array) -> Picture:
    return np.where(known[..., None], picture, np.uint8(0))
