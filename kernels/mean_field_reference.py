"""The mean-field step from PAC operators: its specification, and what autograd goes through."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor

from pacbench.kernels import reference
from pacbench.kernels.arguments import Window


class Pairwise(NamedTuple):
    """A pairwise term, by its messages m_i(l) = Σ_{l'} Σ_{j∈Ω(i)} K_ij W_{ll'}[p_i − p_j] Q_j(l').

    Attributes:
        weight: W (L, L, kh, kw), or one spatial filter (1, 1, kh, kw) for all labels.
        kernel: K (B, 1, kh, kw, H, W); or None.
        guide: (B, C, H, W), of which K is the Gaussian; or None. Without both, K is 1.
        compatibility: (L, L) between labels, with one filter; None: labels support themselves only.
        dilation: pixels between taps.
    """

    weight: Tensor
    kernel: Tensor | None = None
    guide: Tensor | None = None
    compatibility: Tensor | None = None
    dilation: int = 1

    @property
    def window(self) -> Window:
        """The taps Ω, around every pixel."""
        size = (self.weight.shape[2], self.weight.shape[3])
        return Window.of(size, 1, reference.same_padding(size, self.dilation), self.dilation)


def mean_field_step(
    unary: Tensor,
    marginals: Tensor,
    terms: Sequence[Pairwise],
    output: str,
    operators: ModuleType = reference,
) -> Tensor:
    """As :func:`pacbench.kernels.mean_field.mean_field_step`, by the given PAC operators."""
    log_q = unary
    if terms:
        first, *others = terms
        total = message(marginals, first, operators)
        for term in others:
            total += message(marginals, term, operators)  # in place: images are large
        log_q = total.neg_().add_(unary)
    if output == "log_Q":
        return log_q
    return F.softmax(log_q, dim=1) if output == "softmax" else F.log_softmax(log_q, dim=1)


def message(marginals: Tensor, term: Pairwise, operators: ModuleType = reference) -> Tensor:
    """m (B, L, H, W) of one term under ``marginals`` (B, L, H, W)."""
    labels = marginals.shape[1]
    _, stride, padding, dilation = term.window[:4]
    sent: Tensor
    if term.kernel is not None:
        sent = operators.pacconv2d(
            marginals, term.kernel, term.weight, None, stride, padding, dilation
        )
    elif term.guide is not None:
        sent = operators.pac_conv2d(
            marginals, term.guide, term.weight, None, stride, padding, dilation
        )
    elif is_dense(term.weight):
        sent = F.conv2d(marginals, term.weight, None, stride, padding, dilation)
    else:
        each = term.weight.expand(labels, 1, -1, -1)
        sent = F.conv2d(marginals, each, None, stride, padding, dilation, groups=labels)
    if term.compatibility is None:
        return sent
    return F.conv2d(sent, term.compatibility[:, :, None, None])


def is_dense(weight: Tensor) -> bool:
    """Whether ``weight`` has a filter for every pair of labels, not one for all."""
    return tuple(weight.shape[:2]) != (1, 1)
