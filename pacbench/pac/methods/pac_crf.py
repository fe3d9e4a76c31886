"""PAC-CRF as the harness runs it: RGB guide, one 5×5 PAC per dilation."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field, PositiveInt
from torch import Tensor

from pacbench.data.base import Sample
from pacbench.method import Context, Method, MethodInfo, MethodParams, methods
from pacbench.pac.crf import PacCRF
from pacbench.tasks.crf import crf_inputs


class PacCRFParams(MethodParams):
    steps: int = Field(5, ge=1, description="mean-field steps")
    kernel_size: int = Field(5, ge=1, description="taps of the window in each direction, odd")
    dilations: list[PositiveInt] = Field(
        default=[16, 64], min_length=1, description="one pairwise kernel per dilation"
    )
    rgb_scale: float = Field(30.0, gt=0, description="RGB levels are divided by it for the guide")


@methods.register("pac_crf")
class PacCRFMethod(Method):
    info = MethodInfo(
        title="PAC-CRF",
        paper="Su et al., Pixel-adaptive convolutional neural networks",
        year=2019,
        task="crf",
        learnable=True,
        devices=("cpu", "cuda"),
        backends=("native", "reference"),
        note="untrained: the Potts compatibility and Gaussian filter that training starts from",
    )
    Params = PacCRFParams

    def __init__(self, params: PacCRFParams, context: Context) -> None:
        labels = len(crf_inputs(context.example)[1])
        self.device = context.device
        self.rgb_scale = params.rgb_scale
        self.crf = PacCRF(labels, params.steps, perturbed_init=False, backend=context.backend)
        for dilation in params.dilations:
            self.crf.add_pairwise_kernel(params.kernel_size, dilation)
        self.crf.to(self.device).eval()

    def prepare(self, sample: Sample) -> tuple[Tensor, Tensor]:
        image, unary = crf_inputs(sample)
        return (
            torch.from_numpy(unary)[None].to(self.device),
            torch.from_numpy(image)[None].to(self.device),
        )

    def run(self, inputs: tuple[Tensor, Tensor]) -> Tensor:
        """From logits and image to log marginals (1, L, H, W), the adapting kernel included."""
        unary, image = inputs
        guide = image.to(unary.dtype) / self.rgb_scale
        output: Tensor = self.crf(unary, [guide] * len(self.crf.messengers))
        return output

    def finish(self, output: Tensor) -> NDArray[np.floating[Any]]:
        return output[0].cpu().numpy()
