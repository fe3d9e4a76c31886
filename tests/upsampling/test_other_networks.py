"""DJF, DJF+ and DMSG: parameters, and the parts of the input that pass by the network."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from pacbench.baselines.upsampling.djf import DJF
from pacbench.baselines.upsampling.dmsg import MSGNet


def silence(network: torch.nn.Module) -> None:
    for parameter in network.parameters():
        torch.nn.init.zeros_(parameter)


@pytest.mark.parametrize("factor", [4, 16])
def test_djf_has_56k_parameters_whatever_the_factor(factor: int) -> None:
    network = DJF(factor)
    assert sum(p.numel() for p in network.parameters()) == 56_323
    assert network.layers() == {
        "target": ["C96", "C48", "C1"],
        "guidance": ["C96", "C48", "C1"],
        "joint": ["C64", "C32", "C1"],
    }
    sizes = [layer.kernel_size for layer in network.branch_joint if hasattr(layer, "kernel_size")]
    assert sizes == [(9, 9), (1, 1), (5, 5)]


def test_djf_plus_adds_the_grown_input() -> None:
    low, guide = torch.rand(1, 2, 3, 4), torch.rand(1, 3, 12, 16)
    plain, residual = DJF(4), DJF(4, residual=True)
    residual.load_state_dict(plain.state_dict())
    grown = F.interpolate(low, scale_factor=4, mode="bilinear")
    torch.testing.assert_close(residual(low, guide), plain(low, guide) + grown)


@pytest.mark.parametrize("residual", [False, True])
def test_djf_can_begin_as_bilinear(residual: bool) -> None:
    low, guide = torch.rand(1, 2, 5, 6), torch.rand(1, 3, 20, 24)
    network = DJF(4, residual=residual)
    network.start_as_bilinear()
    grown = F.interpolate(low, scale_factor=4, mode="bilinear")
    torch.testing.assert_close(network(low, guide), grown)
    with pytest.raises(ValueError, match="a network of 2 channels cannot begin as bilinear"):
        DJF(4, channels=2).start_as_bilinear()


@pytest.mark.parametrize("factor", [2, 4, 8])
def test_dmsg_adds_the_low_frequencies(factor: int) -> None:
    network = MSGNet(factor)
    silence(network)
    low, guide = torch.rand(2, 1, 4, 5), torch.rand(2, 3, 4 * factor, 5 * factor)
    smooth = F.avg_pool2d(F.pad(low, (1, 1, 1, 1), mode="replicate"), 3, 1)
    grown = F.interpolate(smooth, scale_factor=factor, mode="bicubic")
    torch.testing.assert_close(network(low, guide), grown)


def test_dmsg_fuses_guidance_at_every_level() -> None:
    network = MSGNet(8)
    assert network.layers() == {
        "guidance": ["C49", "C32", "C32", "C32"],
        "target": ["C64", *["D32", "C32", "C32"] * 3, "C32", "C1"],
    }
    low, guide = torch.rand(1, 1, 3, 3), torch.rand(1, 3, 24, 24)
    assert not torch.equal(network(low, guide), network(low, guide.flip(3)))
    with pytest.raises(ValueError, match="factor is 3; it must be a power of two"):
        MSGNet(3)
