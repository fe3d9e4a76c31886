"""A quotient by a hidden layer of ReLUs: what makes a weighted mean of two sums."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor, nn

LEAST = 0.1
"""The denominators that are fitted are from here to 1."""

POINTS = 41
"""Quotients, and denominators, on which the fit is made."""

ITERATIONS = 500


@torch.no_grad()
def quotient_(hidden: nn.Conv2d, output: nn.Conv2d) -> None:
    """Let two convolutions, with a ReLU between them, give the first channel over the second.

    For channels with 0 ≤ first ≤ second ≤ 1, to about half a percent of that range; the others are
    left out.
    """
    assert hidden.bias is not None  # noqa: S101, all layers here have one
    assert output.bias is not None  # noqa: S101, as above
    inner, outer = fitted_quotient(hidden.out_channels)
    middle = hidden.kernel_size[0] // 2
    for parameter in (hidden.weight, output.weight, output.bias):
        parameter.zero_()
    hidden.weight[:, :2, middle, middle] = inner[:, :2].to(hidden.weight)
    hidden.bias.copy_(inner[:, 2])
    output.weight[0, :, middle, middle] = outer.to(output.weight)


@lru_cache
@torch.inference_mode(False)
@torch.enable_grad()  # type: ignore[untyped-decorator]
def fitted_quotient(units: int) -> tuple[Tensor, Tensor]:
    """Inner (units, 3) and outer weights (units): a / b ≈ Σ_k outer_k relu(inner_k · (a, b, 1)).

    Fitted by least squares over all quotients and denominators; those close to 1, as most are where
    a guide is flat, count most. It begins with a / b ≈ a and hinges along b that slant up or down
    with a.
    """
    quotient = torch.linspace(0, 1, POINTS, dtype=torch.float64)
    below = (1 - LEAST) * torch.linspace(0, 1, POINTS, dtype=torch.float64) ** 2
    wanted, below = (part.flatten() for part in torch.meshgrid(quotient, below, indexing="ij"))
    denominator, weight = 1 - below, (0.02 + below) ** -1.5
    points = torch.stack([wanted * denominator, denominator, torch.ones_like(wanted)])
    order = torch.arange(units - 1, dtype=torch.float64)
    slant = torch.where(order % 2 == 0, 0.5, -0.5).double()
    offset = 1 - (1 - LEAST) * order / (units - 1) - slant.clamp(min=0)
    inner = torch.stack([slant, -torch.ones_like(slant), offset], dim=1)
    inner = torch.cat([torch.tensor([[1.0, 0, 0]]).double(), inner]).requires_grad_()
    outer = (torch.arange(units) == 0).double().requires_grad_()
    optimiser = torch.optim.LBFGS(
        [inner, outer], max_iter=ITERATIONS, history_size=20, line_search_fn="strong_wolfe"
    )

    def error() -> Tensor:
        optimiser.zero_grad()
        loss = (weight * (outer @ (inner @ points).relu() - wanted).square()).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    optimiser.step(error)  # type: ignore[no-untyped-call]
    return inner.detach(), outer.detach()
