"""The networks of the appendix: layers, parameters, keys, and what they compute."""

from __future__ import annotations

from importlib.resources import files

import pytest
import torch
import torch.nn.functional as F
import yaml
from torch import Tensor

from pacbench.kernels import can_run
from pacbench.pac import PacJointUpsample, PacJointUpsampleLite
from pacbench.pac.quotient import fitted_quotient

NETWORKS = {"pac": PacJointUpsample, "pac_lite": PacJointUpsampleLite}
CASES = [(name, factor) for name in NETWORKS for factor in (4, 8, 16)]
PAPER = yaml.safe_load((files("pacbench.report") / "paper_tables.yaml").read_text())[
    "tab_upsample_arch"
]
native = pytest.mark.skipif(not can_run(())[0], reason="the native library is not built")


def inputs(factor: int, channels: int = 1, batch: int = 1) -> tuple[Tensor, Tensor]:
    return torch.rand(batch, channels, 3, 4), torch.rand(batch, 3, 3 * factor, 4 * factor)


@pytest.mark.parametrize(("name", "factor"), CASES)
def test_layers_and_parameters_are_those_of_the_paper(name: str, factor: int) -> None:
    network = NETWORKS[name](factor)
    assert network.layers() == PAPER["layers"][name][factor]
    count = sum(p.numel() for p in network.parameters())
    assert round(count / 1000) == PAPER["params_k"][name][PAPER["factors"].index(factor)]


def test_flow_takes_two_channels_at_both_ends() -> None:
    network = PacJointUpsample(4, channels=2)
    assert network.layers()["decoder"] == ["P32", "P32", "C32", "C2"]
    assert network.branch_t.conv1.in_channels == 2
    assert network(*inputs(4, channels=2)).shape == (1, 2, 12, 16)


def test_keys_are_those_of_the_release() -> None:
    convolutions = [
        *(f"branch_{branch}.conv{n}" for branch in "tg" for n in (1, 2, 3)),
        *(f"branch_f.conv{n}" for n in (1, 2)),
        *(f"up_convts.{n}" for n in (0, 1, 2)),
    ]
    expected = {f"{layer}.{kind}" for layer in convolutions for kind in ("weight", "bias")}
    assert set(PacJointUpsample(8).state_dict()) == expected


def test_without_guidance_it_is_a_plain_network() -> None:
    """Where K is 1, transposed PAC is a transposed convolution with its filter turned around.

    This says where the ReLUs are: not after the last convolutions of encoder and guidance.
    """
    network = PacJointUpsample(4, backend="reference")
    torch.nn.init.zeros_(network.branch_g.conv3.weight)
    low, guide = inputs(4)
    encoder, decoder = network.branch_t, network.branch_f
    x = low
    for layer in (encoder.conv1, encoder.conv2):
        x = F.relu(F.conv2d(x, layer.weight, layer.bias, padding=2))
    x = F.conv2d(x, encoder.conv3.weight, encoder.conv3.bias, padding=2)
    for layer in network.up_convts:
        weight = layer.weight.flip(2, 3)
        x = F.relu(F.conv_transpose2d(x, weight, layer.bias, 2, 2, output_padding=1))
    x = F.relu(F.conv2d(x, decoder.conv1.weight, decoder.conv1.bias, padding=2))
    x = F.conv2d(x, decoder.conv2.weight, decoder.conv2.bias, padding=2)
    torch.testing.assert_close(network(low, guide), x, atol=1e-5, rtol=1e-4)


def test_each_step_has_its_own_share_of_the_guidance() -> None:
    network = PacJointUpsample(4, backend="reference")
    seen = []
    for layer in network.up_convts:
        layer.register_forward_pre_hook(lambda _, given: seen.append(given[1]))
    low, guide = inputs(4)
    network(low, guide)
    features = network.branch_g(guide)
    half = F.interpolate(features[:, :16], scale_factor=0.5, mode="bilinear")
    torch.testing.assert_close(seen[0], half)
    torch.testing.assert_close(seen[1], features[:, 16:])


@native
@pytest.mark.parametrize(("name", "factor"), CASES)
def test_native_is_the_reference(name: str, factor: int) -> None:
    native_net, reference = (NETWORKS[name](factor, backend=b) for b in ("native", "reference"))
    native_net.load_state_dict(reference.state_dict())
    low, guide = inputs(factor, batch=2)
    outputs = [network(low, guide) for network in (native_net, reference)]
    torch.testing.assert_close(*outputs, atol=1e-5, rtol=1e-4)
    for output in outputs:
        output.square().mean().backward()
    grads = [[p.grad for p in network.parameters()] for network in (native_net, reference)]
    for ours, theirs in zip(*grads, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-3)


def test_channels_of_a_sample_are_upsampled_one_by_one() -> None:
    network = PacJointUpsampleLite(4)
    low, guide = inputs(4, channels=2, batch=2)
    both = network(low, guide)
    for channel in (0, 1):
        alone = network(low[:, channel : channel + 1], guide)
        torch.testing.assert_close(both[:, channel : channel + 1], alone)


def test_a_guide_of_another_size_gives_an_output_of_that_size() -> None:
    network = PacJointUpsampleLite(4)
    low, guide = inputs(4)
    assert network(low, guide[:, :, :11, :14]).shape == (1, 1, 11, 14)


@pytest.mark.parametrize("units", [16, 20, 22, 32])
def test_a_hidden_layer_makes_a_quotient(units: int) -> None:
    inner, outer = fitted_quotient(units)
    quotient, denominator = torch.meshgrid(
        torch.linspace(0, 1, 30), torch.linspace(0.15, 1, 30), indexing="ij"
    )
    points = torch.stack([quotient * denominator, denominator, torch.ones_like(quotient)]).double()
    error = torch.einsum("k,kxy->xy", outer, torch.einsum("kc,cxy->kxy", inner, points).relu())
    error -= quotient
    assert error.square().mean().sqrt() < 0.015
    assert error[:, -1].abs().max() < 0.004  # where the denominator is 1


@pytest.mark.parametrize("network", [PacJointUpsample, PacJointUpsampleLite])
def test_it_can_begin_as_a_filter(network: type[PacJointUpsample]) -> None:
    """Bilinear steps where the guide is flat, and sharper than those at its edges."""
    started = network(4, backend="reference")
    started.start_as_filter()
    low, flat = torch.rand(1, 1, 6, 8), torch.full((1, 3, 24, 32), 0.5)
    torch.testing.assert_close(started(low, flat), two_steps(low), atol=0.03, rtol=0)
    truth = torch.zeros(1, 1, 24, 32)
    truth[..., 16:] = 1
    low = truth[..., 1::4, 1::4]
    error = started(low, truth.expand(-1, 3, -1, -1)) - truth
    assert error.abs().mean() < 0.5 * (two_steps(low) - truth).abs().mean()
    with torch.inference_mode():  # as workers build their methods
        fitted_quotient.cache_clear()
        built = network(4, backend="reference")
        built.start_as_filter()
    torch.testing.assert_close(built.branch_f.conv1.weight, started.branch_f.conv1.weight)
    with pytest.raises(ValueError, match="a network of 2 channels cannot begin as a filter"):
        PacJointUpsample(4, 2).start_as_filter()


def two_steps(low: Tensor) -> Tensor:
    for _ in range(2):
        low = F.interpolate(low, scale_factor=2, mode="bilinear")
    return low


def test_factors_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="factor is 6; it must be a power of two"):
        PacJointUpsample(6)
    with pytest.raises(ValueError, match="factor is 2; the lite network is made for 4, 8 and 16"):
        PacJointUpsampleLite(2)
    with pytest.raises(ValueError, match="decoder has 2 entries; factor 4 needs 2"):
        PacJointUpsample(4, decoder=(8, 8))
