"""PAC-CRF as the paper uses it: guided by the image's colours, their scale learned."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from pacbench.pac.crf import FinalOutput, PacCRF, Shared, as_output
from pacbench.pac.mean_field import MeanField

RGB_SCALE = 30.0


class ImageGuidedPacCRF(MeanField):
    """One PAC per dilation, each guided by RGB over a learned scale per channel; no positions.

    Args:
        channels: number of labels L.
        dilations: of the pairwise kernels; ``(32,)`` and ``(16, 64)`` are the paper's two.
        kernel_size: taps of each window in each direction.
        num_steps: mean-field steps.
        final_output: see :class:`PacCRF`.
        perturbed_init: see :class:`PacCRF`.
        rgb_scale: where the scales start, in RGB levels (0 to 255).
        backend: of the PAC layers; see ``pacbench.kernels``.
    """

    def __init__(
        self,
        channels: int,
        dilations: Sequence[int] = (16, 64),
        kernel_size: int = 5,
        num_steps: int = 5,
        final_output: FinalOutput = "log_Q",
        perturbed_init: bool = True,
        rgb_scale: float = RGB_SCALE,
        *,
        backend: str = "auto",
    ) -> None:
        super().__init__()
        self.num_steps = num_steps
        kernels = [{"kernel_size": kernel_size, "dilation": dilation} for dilation in dilations]
        self.crf = PacCRF(
            channels,
            num_steps,
            final_output,
            perturbed_init,
            pairwise_kernels=kernels,
            backend=backend,
        )
        self.feat_scales = nn.ParameterList(
            nn.Parameter(torch.full((3,), float(rgb_scale))) for _ in dilations
        )

    def set_up(self, unary: Tensor, image: Tensor) -> Shared:
        guides = [image / scale.view(-1, 1, 1) for scale in self.feat_scales]
        return self.crf.shared(unary, self.crf.edge_kernels(guides))

    def step(self, shared: Shared, log_q: Tensor) -> Tensor:
        return self.crf.step(shared, log_q)

    def forward(self, unary: Tensor, image: Tensor) -> Tensor:
        """Marginals (B, L, H, W) from logits (B, L, H, W) and RGB levels (B, 3, H, W)."""
        return as_output(super().forward(unary, image), self.crf.final_output)
