"""What a network costs by the formulas of its layers, whatever computes them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from pacbench.pac.layers import PacConv2d, PacConvTranspose2d
from pacbench.timing.cost import Cost

FLOAT_BYTES = 4


def network_cost(module: nn.Module, *inputs: Tensor) -> Cost:
    """FLOPs of the convolutions and PACs of one call, which is made to see their sizes.

    A multiply-add is two. A PAC's adapting kernel takes 3 FLOPs per guide channel (difference,
    square, sum) and an exponential at each tap; it multiplies each input at each tap once more.
    Activations, resizing and biases are not counted: they are less than a hundredth.
    """
    flops = 0.0

    def count(layer: nn.Module, given: tuple[Any, ...], output: Tensor) -> None:
        nonlocal flops
        flops += _flops(layer, given, output)

    handles = [layer.register_forward_hook(count) for layer in module.modules()]
    try:
        with torch.no_grad():
            output = module(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    moved = sum(t.numel() for t in (*inputs, *module.parameters(), output))
    return Cost(flops=flops, bytes=FLOAT_BYTES * moved)


def _flops(layer: nn.Module, given: tuple[Any, ...], output: Tensor) -> float:
    match layer:
        case nn.Conv2d():
            taps = layer.weight[0].numel()
            return 2 * taps * output.numel()
        case nn.ConvTranspose2d():
            return 2 * layer.weight[0].numel() * given[0].numel()
        case PacConv2d() | PacConvTranspose2d():
            low, guide = given
            transposed = isinstance(layer, PacConvTranspose2d)
            taps = layer.weight.shape[2] * layer.weight.shape[3]
            pixels = (low if transposed else output)[:, 0].numel()  # each has all taps
            kernel = (3 * guide.shape[1] + 1) * taps * pixels
            return kernel + (1 + 2 * layer.out_channels) * layer.in_channels * taps * pixels
    return 0.0
