"""PAC-CRF: mean-field inference whose messages are pixel-adaptive convolutions."""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pacbench.pac.layers import PacConv2d

FinalOutput = Literal["log_Q", "softmax", "log_softmax"]


class PacCRF(nn.Module):
    """Mean-field inference in a CRF with local, pixel-adaptive pairwise potentials.

    Each step, with log Q starting from the unaries:

        Q_i(l) ← exp{ −ψ_u(l) − Σ_k m^k_i(l) } / Z_i
        m^k_i(l) = Σ_{l'} Σ_{j∈Ω^k(i)} K^k(f_i, f_j) W^k_{l'l}[p_j − p_i] Q_j(l')

    Args:
        channels: number of labels L.
        num_steps: mean-field steps.
        final_output: ``log_Q`` (not normalised), ``softmax`` or ``log_softmax``.
        perturbed_init: break the symmetry between labels by a little noise on W, for training.
        unary_weight: initial weight of the unaries, learned.
        backend: of the PAC layers; see ``pacbench.kernels``.
    """

    def __init__(
        self,
        channels: int,
        num_steps: int,
        final_output: FinalOutput = "log_Q",
        perturbed_init: bool = True,
        unary_weight: float = 1.0,
        *,
        backend: str = "auto",
    ) -> None:
        super().__init__()
        self.channels = channels
        self.num_steps = num_steps
        self.final_output = final_output
        self.perturbed_init = perturbed_init
        self.backend = backend
        self.unary_weight = nn.Parameter(torch.tensor(float(unary_weight)))
        self.messengers: list[PacConv2d] = nn.ModuleList()  # type: ignore[assignment]
        self.pairwise_weights = nn.ParameterList()

    def add_pairwise_kernel(
        self, kernel_size: int = 3, dilation: int = 1, pairwise_weight: float = 1.0
    ) -> None:
        """Add one pairwise potential: a window of ``kernel_size`` taps, ``dilation`` apart."""
        self.messengers.append(
            PacConv2d(
                self.channels,
                self.channels,
                kernel_size,
                padding=dilation * (kernel_size - 1) // 2,
                dilation=dilation,
                bias=False,
                filler="crf_perturbed" if self.perturbed_init else "crf",
                backend=self.backend,
            )
        )
        self.pairwise_weights.append(nn.Parameter(torch.tensor(float(pairwise_weight))))

    def forward(self, unary: Tensor, edge_feat: list[Tensor]) -> Tensor:
        """Marginals of every pixel.

        Args:
            unary: (B, L, H, W) logits.
            edge_feat: the guide (B, C, H, W) of each pairwise kernel.

        Returns:
            (B, L, H, W), as ``final_output`` says.
        """
        if len(edge_feat) != len(self.messengers):
            raise ValueError(
                f"edge_feat has {len(edge_feat)} guides for {len(self.messengers)} pairwise kernels"
            )
        # K depends on the image alone, so it is computed once and serves every step.
        kernels = [m.compute_kernel(f)[0] for m, f in zip(self.messengers, edge_feat, strict=True)]
        log_q = unary
        for _ in range(self.num_steps):
            q = F.softmax(log_q, dim=1)
            log_q = unary * self.unary_weight
            for messenger, kernel, weight in zip(
                self.messengers, kernels, self.pairwise_weights, strict=True
            ):
                log_q = log_q - weight * messenger(q, None, kernel)
        if self.final_output == "softmax":
            return F.softmax(log_q, dim=1)
        if self.final_output == "log_softmax":
            return F.log_softmax(log_q, dim=1)
        return log_q
