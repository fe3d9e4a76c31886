"""Adam, with learning rates that fit the size of what they move."""

from __future__ import annotations

import torch
from torch import nn

from pacbench.train.spec import TrainingSpec


def adam_for(module: nn.Module) -> torch.optim.Adam:
    """Adam over the parameters of a module, one group for each; :func:`set_step` gives their rates.

    A step of Adam is about the learning rate, whatever the size of what it moves: RGB scales of
    30 levels would hardly move at a rate that suits filters. So the rate of a tensor is multiplied
    by its root mean square, as it is now, where that is above 1.
    """
    groups = [
        {"params": [parameter], "name": name, "size": max(1.0, _root_mean_square(parameter))}
        for name, parameter in module.named_parameters()
        if parameter.requires_grad
    ]
    return torch.optim.Adam(groups)


def set_step(optimiser: torch.optim.Optimizer, spec: TrainingSpec, step: int) -> None:
    """Give every parameter the learning rate of a step, and freeze what does not learn yet."""
    rate, frozen = spec.learning_rate_at(step), spec.frozen_at(step)
    for group in optimiser.param_groups:
        group["lr"] = rate * group["size"]
        (parameter,) = group["params"]
        parameter.requires_grad_(not any(is_under(group["name"], part) for part in frozen))


def is_under(name: str, part: str) -> bool:
    """Whether a parameter belongs to a part of a module: ``crf.unary_weight`` to ``crf``."""
    return name == part or name.startswith(f"{part}.")


def _root_mean_square(parameter: nn.Parameter) -> float:
    return float(parameter.detach().float().square().mean().sqrt())
