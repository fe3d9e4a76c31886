"""Fillers: the values that weights begin with."""

from __future__ import annotations

import math

import pytest
import torch

from pacbench.pac import PacConv2d, PacConvTranspose2d, PacPool2d


@pytest.mark.parametrize(("shared", "bound"), [(False, 1 / 10), (True, 4 / 10)])
def test_uniform(shared: bool, bound: float) -> None:
    layer = PacConv2d(4, 4, 5, shared_filters=shared)
    for values in (layer.weight, layer.bias):
        assert values.abs().max() <= bound
    assert layer.weight.abs().max() > 0.8 * bound


def test_crf() -> None:
    layer = PacConv2d(3, 3, 5, filler="crf")
    line = torch.tensor([math.exp(-0.5 * (r / 1.25) ** 2) for r in (-2, -1, 0, 1, 2)])
    gaussian = torch.outer(line, line)
    gaussian *= 25 / gaussian.sum()
    gaussian[2, 2] = 0
    for label in range(3):
        for other in range(3):
            expected = torch.zeros(5, 5) if label == other else gaussian
            torch.testing.assert_close(layer.weight[label, other].detach(), expected)
    assert not layer.bias.any()
    shared = PacConv2d(3, 3, 5, filler="crf", shared_filters=True)
    torch.testing.assert_close(shared.weight[0, 0].detach(), gaussian)


def test_crf_perturbed() -> None:
    exact = PacConv2d(5, 5, 5, filler="crf", bias=False)
    perturbed = PacConv2d(5, 5, 5, filler="crf_perturbed", bias=False)
    noise = (perturbed.weight - exact.weight).detach()
    assert noise.abs().max() <= 0.5e-3 + 1e-6
    assert noise.std() == pytest.approx(1e-3 / math.sqrt(12), rel=0.1)


@pytest.mark.parametrize(("filler", "centre"), [("pool", 1), ("crf_pool", 0)])
def test_fixed_filters(filler: str, centre: int) -> None:
    layer = PacConv2d(3, 3, 3, shared_filters=True, filler=filler)
    expected = torch.ones(3, 3)
    expected[1, 1] = centre
    assert torch.equal(layer.weight[0, 0], expected)
    assert not isinstance(layer.weight, torch.nn.Parameter)
    assert not layer.bias.any()


def test_linear() -> None:
    layer = PacConvTranspose2d(2, 2, (5, 3), stride=(2, 1), filler="linear")
    rows, columns = torch.tensor([0, 0.5, 1, 0.5, 0]), torch.tensor([0.0, 1, 0])
    expected = torch.zeros(2, 2, 5, 3)
    expected[0, 0] = expected[1, 1] = torch.outer(rows, columns)
    assert torch.equal(layer.weight.detach(), expected)
    shared = PacConvTranspose2d(2, 2, 3, stride=2, filler="linear", shared_filters=True)
    line = torch.tensor([0.5, 1, 0.5])
    assert torch.equal(shared.weight[0, 0].detach(), torch.outer(line, line))


def test_reset_restores_what_was_learned() -> None:
    layer = PacConv2d(3, 3, 3, kernel_type="inv_0.25_3", smooth_kernel_type="full_3", filler="crf")
    before = {name: value.clone() for name, value in layer.state_dict().items()}
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.add_(1)
    layer.reset_parameters()
    for name, value in layer.state_dict().items():
        assert torch.equal(value, before[name]), name
    pool = PacPool2d(3, kernel_type="inv_0.25_3")
    with torch.no_grad():
        pool.inv_alpha.add_(1)
    pool.reset_parameters()
    assert pool.inv_alpha == 0.25
