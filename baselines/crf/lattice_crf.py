"""What dense CRFs on the permutohedral lattice share: features, normalisation, mean field.

As pydensecrf computes it: two Gaussian kernels, appearance on (x, y, r, g, b) and smoothness on
(x, y), with its symmetric normalisation, each pixel's message to itself included.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from pacbench.kernels import PermutohedralLattice
from pacbench.pac import create_position_feats
from pacbench.pac.mean_field import MeanField
from pacbench.tasks.crf import TorchCRFParams

TINY = 1e-20  # pydensecrf's guard of the normalisation


class LatticeCRFParams(TorchCRFParams):
    """``full_crf``'s names and defaults: K = w1·appearance(θα, θβ) + w2·smoothness(θγ)."""

    steps: int = Field(5, ge=1, description="mean-field steps")
    w1: float = Field(4.0, ge=0, description="weight of the appearance kernel")
    w2: float = Field(3.0, ge=0, description="weight of the smoothness kernel")
    theta_alpha: float = Field(49.0, gt=0, description="appearance kernel, pixels")
    theta_beta: float = Field(5.0, gt=0, description="appearance kernel, RGB levels")
    theta_gamma: float = Field(3.0, gt=0, description="smoothness kernel, pixels")


@dataclass(frozen=True)
class Shared:
    """What all steps share: the weighted unaries (B, L, H, W), and a lattice for each kernel."""

    unary: Tensor
    lattices: list[PermutohedralLattice]


class LatticeCRF(MeanField):
    """Mean field in a dense CRF, with a learned compatibility μ that starts as Potts:

        log Q_i(l) = unary_weight · unary_i(l) − Σ_l' μ(l, l') Σ_k w^k Σ_j K^k(f_i, f_j) Q_j(l')

    Args:
        channels: number of labels L.
        params: see :class:`LatticeCRFParams`.
        backend: of the lattice; see ``pacbench.kernels``.
    """

    def __init__(self, channels: int, params: LatticeCRFParams, *, backend: str = "auto") -> None:
        super().__init__()
        self.channels = channels
        self.params = params
        self.num_steps = params.steps
        self.backend = backend
        self.unary_weight = nn.Parameter(torch.tensor(1.0))
        self.compatibility = nn.Parameter(1 - torch.eye(channels))

    @abstractmethod
    def filter(self, index: int, lattice: PermutohedralLattice, values: Tensor) -> Tensor:
        """Kernel ``index`` (0 appearance, 1 smoothness) as it now is, applied to ``values``."""

    @abstractmethod
    def initial_filter(self, index: int, lattice: PermutohedralLattice, values: Tensor) -> Tensor:
        """The Gaussian that the kernel starts from, which normalises it."""

    @abstractmethod
    def weighted(self, index: int, message: Tensor) -> Tensor:
        """The message (B, L, H, W) of a kernel times its weight."""

    def feature_scale(self, dimensions: int) -> float:
        """What features are multiplied by, for Gaussians of the width that θ says."""
        return 1.0

    def set_up(self, unary: Tensor, image: Tensor) -> Shared:
        """The weighted unaries, and a lattice for each kernel.

        The lattices are normalised: their filters multiply by 1/√(K·1) before and after.
        """
        lattices = [self._normalised(i, f) for i, f in enumerate(self._features(image))]
        return Shared(unary * self.unary_weight, lattices)

    def step(self, shared: Shared, log_q: Tensor) -> Tensor:
        marginals = F.softmax(log_q, dim=1)
        appearance, smoothness = (
            self.weighted(index, self.filter(index, lattice, marginals))
            for index, lattice in enumerate(shared.lattices)
        )
        message = F.conv2d(appearance + smoothness, self.compatibility[:, :, None, None])
        return shared.unary - message

    def _features(self, image: Tensor) -> tuple[Tensor, Tensor]:
        p, batch, size = self.params, image.shape[0], (image.shape[2], image.shape[3])
        # x before y, as in pydensecrf: a lattice is not the same for axes in another order.
        position = create_position_feats(size, None, batch, image.device).flip(1).to(image.dtype)
        appearance = torch.cat([position / p.theta_alpha, image / p.theta_beta], dim=1)
        return appearance, position / p.theta_gamma

    def _normalised(self, index: int, features: Tensor) -> PermutohedralLattice:
        scaled = features * self.feature_scale(features.shape[1])
        lattice = PermutohedralLattice(scaled, backend=self.backend)
        with torch.no_grad():
            total = self.initial_filter(index, lattice, torch.ones_like(features[:, :1]))
        return lattice.scaled((total + TINY).rsqrt())
