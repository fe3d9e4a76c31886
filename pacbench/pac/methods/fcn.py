"""FCN-8s as the harness runs it, alone or with a CRF on top."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import Tensor, nn

from pacbench.data.base import Sample
from pacbench.errors import did_you_mean, listing
from pacbench.method import Context, LearnableMethod, Method, MethodInfo, MethodParams, methods
from pacbench.pac.fcn import SLIM_WIDTH, FCN8s, RefinedFCN, caffe_input, slim_fcn8s
from pacbench.tasks.hotswap import HotswapProtocol
from pacbench.train.checkpoint import load
from pacbench.train.weights import find_weights, load_weights


class OnTop(BaseModel):
    """A CRF that refines the network's scores."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(description="a registered CRF; see `pacbench list methods`")
    params: dict[str, Any] = Field(default_factory=dict, description="its own parameters")

    @model_validator(mode="after")
    def _is_a_crf(self) -> OnTop:
        crfs = [name for name in methods if methods[name].info.task == "crf"]
        if self.name not in crfs:
            near = did_you_mean(self.name, crfs)
            raise ValueError(f"'{self.name}' is no CRF{near}; allowed: {listing(crfs)}")
        methods[self.name].Params(**self.params)
        return self


class FCNParams(MethodParams):
    width: float = Field(
        SLIM_WIDTH, gt=0, le=1, description="share of VGG-16's channels; 1 is FCN-8s itself"
    )
    padding: Literal[1, 100] = Field(1, description="of conv1_1; FCN's own is 100")
    weights: str | None = Field(
        None,
        description="trained weights, of the network or of network and CRF together: a file, or "
        "the name of some that come with pacbench",
    )
    start: str | None = Field(
        None, description="weights, as above, that a training begins with; used without `weights`"
    )
    crf: OnTop | None = Field(None, description="a CRF on top, learned together where it learns")


class Inputs:
    """``sample`` and its image as the network takes it, (1, 3, H, W)."""

    def __init__(self, sample: Sample, device: str) -> None:
        self.sample = sample
        self.image = caffe_input(torch.from_numpy(sample.image)[None].to(device))


@methods.register("fcn8s")
class FCNMethod(LearnableMethod):
    info = MethodInfo(
        title="FCN-8s",
        paper="Long et al., Fully convolutional networks for semantic segmentation",
        year=2015,
        task="hotswap",
        learnable=True,
        devices=("cpu", "cuda"),
        backends=("native", "reference"),
        note="untrained",
    )
    Params = FCNParams

    def __init__(self, params: FCNParams, context: Context) -> None:
        self.device = context.device
        self.crf = None if params.crf is None else _crf_of(params.crf, context)
        backbone = self._backbone(params, context)
        self.module = backbone
        if isinstance(self.crf, LearnableMethod):
            self.module = RefinedFCN(backbone, self.crf.module)
        if weights := params.weights or params.start:
            together = any(key.startswith("crf.") for key in load(find_weights(weights)))
            self.weights_sha256 = load_weights(self.module if together else backbone, weights)
        self.module.to(self.device).eval()

    def _backbone(self, params: Any, context: Context) -> nn.Module:
        classes = _classes(context)
        if params.width == 1:
            return FCN8s(classes, params.padding)
        return slim_fcn8s(classes, params.padding, params.width)

    def prepare(self, sample: Sample) -> Inputs:
        return Inputs(sample, self.device)

    def run(self, inputs: Inputs) -> Any:
        """Label scores, from the image on; of a CRF that is no torch module, its own output."""
        scores: Tensor = self.module(inputs.image)
        if self.crf is None or isinstance(self.crf, LearnableMethod):
            return scores
        unary = scores[0].cpu().numpy()
        return self.crf.run(self.crf.prepare(replace(inputs.sample, unary=unary)))

    def finish(self, output: Any) -> NDArray[np.floating[Any]]:
        if isinstance(output, Tensor):
            return output[0].cpu().numpy()
        assert self.crf is not None  # noqa: S101, only a CRF gives something else
        return self.crf.finish(output)


def _crf_of(chosen: OnTop, context: Context) -> Method:
    """The CRF, built for scores of the network's classes."""
    cls = methods[chosen.name]
    height, width = context.example.image.shape[1:]
    unary = np.zeros((_classes(context), height, width), dtype=np.float32)
    example = replace(context.example, unary=unary)
    return cls(cls.Params(**chosen.params), replace(context, example=example))


def _classes(context: Context) -> int:
    assert isinstance(context.protocol, HotswapProtocol)  # noqa: S101, the task's own
    return context.protocol.classes
