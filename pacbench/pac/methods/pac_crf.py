"""PAC-CRF as the harness runs it."""

from __future__ import annotations

from pydantic import Field, PositiveInt

from pacbench.method import Context, MethodInfo, methods
from pacbench.pac.guided_crf import RGB_SCALE, ImageGuidedPacCRF
from pacbench.tasks.crf import TorchCRF, TorchCRFParams, crf_inputs


class PacCRFParams(TorchCRFParams):
    steps: int = Field(5, ge=1, description="mean-field steps")
    kernel_size: int = Field(5, ge=1, description="taps of the window in each direction, odd")
    dilations: list[PositiveInt] = Field(
        default=[16, 64], min_length=1, description="one pairwise kernel per dilation"
    )
    rgb_scale: float = Field(RGB_SCALE, gt=0, description="RGB levels are divided by it")


@methods.register("pac_crf")
class PacCRFMethod(TorchCRF):
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
        crf = ImageGuidedPacCRF(
            labels,
            params.dilations,
            params.kernel_size,
            params.steps,
            perturbed_init=False,
            rgb_scale=params.rgb_scale,
            backend=context.backend,
        )
        super().__init__(crf, params, context.device)
