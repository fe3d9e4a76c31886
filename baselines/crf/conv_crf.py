"""Conv-CRF: a CRF with messages from a small window, at a quarter of the resolution.

Teichmann & Cipolla with the learned 1×1 compatibility ("Conv+C"). The window is filtered with
nothing but K, so the message is the pooling form of PAC and runs on its kernels.
"""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor, nn

from pacbench.method import Context, MethodInfo, methods
from pacbench.pac import PacCRF, create_position_feats, create_YXRGB
from pacbench.pac.crf import Shared
from pacbench.pac.mean_field import MeanField
from pacbench.tasks.crf import TorchCRF, TorchCRFParams, crf_inputs


class ConvCRFParams(TorchCRFParams):
    """Defaults are those that the authors and the PAC paper use."""

    steps: int = Field(5, ge=1, description="mean-field steps")
    kernel_size: int = Field(11, ge=1, description="taps of the window in each direction, odd")
    dilation: int = Field(1, ge=1, description="pixels between taps")
    blur: int = Field(4, ge=1, description="messages are sent at 1/blur of the resolution")
    unary_weight: float = 0.8
    appearance_weight: float = Field(2.0, ge=0)
    smoothness_weight: float = Field(0.6, ge=0)
    theta_alpha: float = Field(80.0, gt=0, description="appearance kernel, pixels")
    theta_beta: float = Field(13.0, gt=0, description="appearance kernel, RGB levels; learned")
    theta_gamma: float = Field(3.0, gt=0, description="smoothness kernel, pixels")


class ConvCRF(MeanField):
    """Two pairwise kernels on hand-made features: (y, x, r, g, b) and (y, x).

    Args:
        channels: number of labels L.
        params: see :class:`ConvCRFParams`.
        perturbed_init: break the symmetry between labels by a little noise, for training.
        backend: of the PAC layers; see ``pacbench.kernels``.
    """

    def __init__(
        self,
        channels: int,
        params: ConvCRFParams,
        perturbed_init: bool = True,
        *,
        backend: str = "auto",
    ) -> None:
        super().__init__()
        self.params = params
        self.num_steps = params.steps
        window = {
            "kernel_size": params.kernel_size,
            "dilation": params.dilation,
            "blur": params.blur,
            "compat_type": "2d",
            "spatial_filter": False,
        }
        weights = (params.appearance_weight, params.smoothness_weight)
        self.crf = PacCRF(
            channels,
            params.steps,
            perturbed_init=perturbed_init,
            unary_weight=params.unary_weight,
            pairwise_kernels=[{**window, "pairwise_weight": weight} for weight in weights],
            backend=backend,
        )
        self.rgb_scale = nn.Parameter(torch.full((3,), params.theta_beta))

    def set_up(self, unary: Tensor, image: Tensor) -> Shared:
        batch, _, height, width = image.shape
        appearance = create_YXRGB(image, self.params.theta_alpha, self.rgb_scale)
        position = create_position_feats(
            (height, width), self.params.theta_gamma, batch, image.device
        )
        kernels = self.crf.edge_kernels([appearance, position.to(unary.dtype)])
        return self.crf.shared(unary, kernels)

    def step(self, shared: Shared, log_q: Tensor) -> Tensor:
        return self.crf.step(shared, log_q)


@methods.register("conv_crf")
class ConvCRFMethod(TorchCRF):
    info = MethodInfo(
        title="Conv-CRF",
        paper="Teichmann & Cipolla, Convolutional CRFs for semantic segmentation",
        year=2018,
        task="crf",
        learnable=True,
        devices=("cpu", "cuda"),
        backends=("native", "reference"),
        note="untrained: the Potts compatibility that training starts from",
    )
    Params = ConvCRFParams

    def __init__(self, params: ConvCRFParams, context: Context) -> None:
        labels = len(crf_inputs(context.example)[1])
        crf = ConvCRF(labels, params, perturbed_init=False, backend=context.backend)
        super().__init__(crf, params, context.device)
