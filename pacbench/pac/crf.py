"""PAC-CRF: mean-field inference whose messages are pixel-adaptive convolutions.

Drop-in for the paper's release: names, arguments, defaults and ``state_dict`` keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pacbench.kernels import Pairwise, mean_field_step
from pacbench.pac.blur import grow, shrink
from pacbench.pac.init import CRF_PERTURBATION
from pacbench.pac.layers import PacConv2d
from pacbench.pac.pairwise import CompatType, PairwiseKernel, check_word

FinalOutput = Literal["log_Q", "softmax", "log_softmax"]
Guides = Tensor | Sequence[Tensor]


@dataclass(frozen=True)
class Shared:
    """What all steps share.

    Attributes:
        unary: the weighted unaries (B, L, H, W).
        terms: by blur, the pairwise terms that send their messages at 1/blur of the resolution.
    """

    unary: Tensor
    terms: Mapping[int, Sequence[Pairwise]]


class PacCRF(nn.Module):
    """Mean-field inference in a CRF with local, pixel-adaptive pairwise potentials.

    Each step, with log Q starting from the unaries:

        Q_i(l) ← exp{ −ψ_u(l) − Σ_k m^k_i(l) } / Z_i
        m^k_i(l) = Σ_{l'} Σ_{j∈Ω^k(i)} K^k(f_i, f_j) W^k_{l'l}[p_j − p_i] Q_j(l')

    Args:
        channels: number of labels L.
        num_steps: mean-field steps, which share their weights (see :class:`PacCRFLoose`).
        final_output: ``log_Q`` (not normalised), ``softmax`` or ``log_softmax``.
        perturbed_init: break the symmetry between labels by a little noise, for training.
        native_impl: accepted because the release has it, without effect.
        fixed_weighting: do not learn the weight of the unaries, nor of Potts terms.
        unary_weight: initial weight of the unaries.
        pairwise_kernels: arguments of :meth:`add_pairwise_kernel`, for one kernel or several.
        backend: of the PAC layers; see ``pacbench.kernels``.
    """

    def __init__(
        self,
        channels: int,
        num_steps: int,
        final_output: FinalOutput = "log_Q",
        perturbed_init: bool = True,
        native_impl: bool = False,
        fixed_weighting: bool = False,
        unary_weight: float = 1.0,
        pairwise_kernels: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        *,
        backend: str = "auto",
    ) -> None:
        super().__init__()
        check_word("final_output", final_output, get_args(FinalOutput))
        self.channels = channels
        self.num_steps = num_steps
        self.final_output = final_output
        self.perturbed_init = perturbed_init
        self.native_impl = native_impl
        self.fixed_weighting = fixed_weighting
        self.init_unary_weight = float(unary_weight)
        self.backend = backend
        self.pairwise: list[PairwiseKernel] = []
        self.messengers = nn.ModuleList()
        self.compat = nn.ModuleList()
        self.pairwise_weights = nn.ParameterList()
        self.unary_weight = (
            float(unary_weight)
            if fixed_weighting
            else nn.Parameter(torch.tensor(float(unary_weight)))
        )
        kernels = [pairwise_kernels] if isinstance(pairwise_kernels, Mapping) else pairwise_kernels
        for kernel in kernels or ():
            self.add_pairwise_kernel(**kernel)

    def add_pairwise_kernel(
        self,
        kernel_size: int = 3,
        dilation: int = 1,
        blur: int = 1,
        compat_type: CompatType = "4d",
        spatial_filter: bool = True,
        pairwise_weight: float = 1.0,
    ) -> None:
        """Add one pairwise potential.

        Args:
            kernel_size: taps of the window Ω in each direction, odd.
            dilation: pixels between taps.
            blur: send messages at 1/blur of the resolution.
            compat_type: ``4d``: W of its own for every pair of labels. ``2d``: one spatial filter
                for all labels, then a learned (L, L) compatibility. ``potts``: one spatial filter,
                and labels only support themselves. ``na``: a plain convolution, no K.
            spatial_filter: learn the spatial filter (``2d`` and ``potts``); else all taps are 1.
            pairwise_weight: weight of the message; learned for ``potts`` without spatial filter.
        """
        kernel = PairwiseKernel(
            kernel_size, dilation, blur, compat_type, spatial_filter, pairwise_weight
        )
        self.pairwise.append(kernel)
        self.messengers.append(
            kernel.messenger(self.channels, self.perturbed_init, self.native_impl, self.backend)
        )
        compatibility = (
            nn.Conv2d(self.channels, self.channels, 1, bias=False)
            if kernel.compat_type == "2d"
            else None
        )
        self.compat.append(compatibility)  # type: ignore[arg-type] # None keeps the indices
        self.pairwise_weights.append(nn.Parameter(torch.tensor(kernel.signed_weight)))
        self.reset_parameters(len(self.pairwise) - 1)

    def num_pairwise_kernels(self) -> int:
        return len(self.pairwise)

    @torch.no_grad()
    def reset_parameters(self, pairwise_idx: int | None = None) -> None:
        """Set the weights of one pairwise kernel, or of everything, to their initial values."""
        if pairwise_idx is None and isinstance(self.unary_weight, nn.Parameter):
            self.unary_weight.fill_(self.init_unary_weight)
        indices = range(len(self.pairwise)) if pairwise_idx is None else [pairwise_idx]
        for index in indices:
            self.messengers[index].reset_parameters()  # type: ignore[operator]
            self.pairwise_weights[index].fill_(self.pairwise[index].signed_weight)
            compatibility = self.compat[index]
            if isinstance(compatibility, nn.Conv2d):
                weight = compatibility.weight
                weight.copy_((1 - torch.eye(self.channels))[:, :, None, None])
                if self.perturbed_init:
                    weight.add_((torch.rand_like(weight) - 0.5) * CRF_PERTURBATION)

    def edge_kernels(self, edge_feat: Guides) -> list[Tensor | None]:
        """K of every pairwise kernel: it depends on the guide alone, and serves every step.

        Args:
            edge_feat: one guide (B, C, H, W) for all kernels, or one for each.
        """
        guides = self._one_each("edge_feat", edge_feat)
        kernels: list[Tensor | None] = []
        for messenger, kernel, guide in zip(self.messengers, self.pairwise, guides, strict=True):
            if isinstance(messenger, PacConv2d):
                kernels.append(messenger.compute_kernel(shrink(guide, kernel.blur))[0])
            else:  # a plain convolution
                kernels.append(None)
        return kernels

    def forward(
        self,
        unary: Tensor,
        edge_feat: Guides | None,
        edge_kernel: Tensor | Sequence[Tensor | None] | None = None,
        logQ: Tensor | None = None,  # noqa: N803 - the release's name
    ) -> Tensor:
        """Marginals of every pixel.

        Args:
            unary: (B, L, H, W) logits, −ψ_u.
            edge_feat: one guide (B, C, H, W) for all pairwise kernels, or one for each; not looked
                at if ``edge_kernel`` is given.
            edge_kernel: K from :meth:`edge_kernels`, one for all or one for each.
            logQ: where to start from, if not from the unaries.

        Returns:
            (B, L, H, W), as ``final_output`` says.
        """
        if edge_kernel is None:
            if edge_feat is None:
                raise ValueError("edge_feat and edge_kernel are both None; one of them is needed")
            edge_kernel = self.edge_kernels(edge_feat)
        shared = self.shared(unary, edge_kernel)
        log_q = unary if logQ is None else logQ
        for _ in range(self.num_steps):
            log_q = self.step(shared, log_q)
        return as_output(log_q, self.final_output)

    def shared(self, unary: Tensor, edge_kernel: Tensor | Sequence[Tensor | None]) -> Shared:
        """What all steps share; the arguments are those of :meth:`forward`."""
        terms: dict[int, list[Pairwise]] = {}
        for index, kernel in enumerate(self._one_each("edge_kernel", edge_kernel)):
            terms.setdefault(self.pairwise[index].blur, []).append(self._term(index, kernel))
        return Shared(unary * self.unary_weight, terms)

    def step(self, shared: Shared, log_q: Tensor) -> Tensor:
        """One mean-field step: log Q (B, L, H, W), not normalised."""
        marginals = F.softmax(log_q, dim=1)
        size = (log_q.shape[2], log_q.shape[3])
        log_q = shared.unary
        for blur, terms in shared.terms.items():
            if blur == 1:
                log_q = mean_field_step(log_q, marginals, terms, backend=self.backend)
            else:  # growth is linear: one serves all messages of a resolution
                coarse = shrink(marginals, blur)
                nothing = torch.zeros_like(coarse)
                less = mean_field_step(nothing, coarse, terms, backend=self.backend)
                log_q = log_q + grow(less, blur, size)
        return log_q

    def _term(self, index: int, kernel: Tensor | None) -> Pairwise:
        pairwise, compatibility = self.pairwise[index], self.compat[index]
        learned = pairwise.learns_weight and not self.fixed_weighting
        scale = self.pairwise_weights[index] if learned else pairwise.signed_weight
        filters = cast("nn.Parameter", self.messengers[index].weight)
        between = compatibility.weight[:, :, 0, 0] if isinstance(compatibility, nn.Conv2d) else None
        return Pairwise(filters * scale, kernel, None, between, pairwise.dilation)

    def _one_each(self, name: str, given: Any) -> list[Any]:
        each = [given] * len(self.pairwise) if isinstance(given, Tensor) else list(given)
        if len(each) != len(self.pairwise):
            raise ValueError(
                f"{name} has {len(each)} entries; expected {len(self.pairwise)}, one for each "
                "pairwise kernel, or a single tensor for all"
            )
        return each

    def extra_repr(self) -> str:
        kernels = ", ".join(map(str, self.pairwise))
        return f"channels={self.channels}, num_steps={self.num_steps}, pairwise=({kernels})"


def as_output(log_q: Tensor, final_output: str) -> Tensor:
    """Log marginals, not normalised, as what ``final_output`` names."""
    if final_output == "softmax":
        return F.softmax(log_q, dim=1)
    if final_output == "log_softmax":
        return F.log_softmax(log_q, dim=1)
    return log_q
