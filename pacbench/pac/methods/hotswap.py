"""PAC-FCN as the harness runs it: FCN-8s with some of its convolutions swapped for PAC."""

from __future__ import annotations

from pydantic import Field
from torch import nn

from pacbench.method import Context, MethodInfo, methods
from pacbench.pac.hot_swap import SCALE, hot_swap
from pacbench.pac.methods.fcn import FCNMethod, FCNParams


class PacFCNParams(FCNParams):
    """Defaults are the paper's."""

    layers: list[str] = Field(
        default=["conv3_3", "conv4_3", "conv5_3"],
        min_length=1,
        description="convolutions to swap: names or globs",
    )
    guide: str = Field(
        "relu2_2", description="layer whose output guides them; the paper's conv2_2 with its ReLU"
    )
    scale: float = Field(SCALE, gt=0, description="what the guide is multiplied by")
    learn_scale: bool = Field(False, description="learn it, one for each layer")


@methods.register("pac_fcn")
class PacFCNMethod(FCNMethod):
    info = MethodInfo(
        title="PAC-FCN",
        paper="Su et al., Pixel-adaptive convolutional neural networks",
        year=2019,
        task="hotswap",
        learnable=True,
        devices=("cpu", "cuda"),
        backends=("native", "reference"),
        note="untrained",
    )
    Params = PacFCNParams

    def _backbone(self, params: PacFCNParams, context: Context) -> nn.Module:
        return hot_swap(
            super()._backbone(params, context),
            params.layers,
            params.guide,
            params.scale,
            params.learn_scale,
            backend=context.backend,
        )
