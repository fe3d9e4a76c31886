"""DJF, DJF+ and DMSG: parameters, and the parts of the input that pass by the network."""

from __future__ import annotations

import re

import pytest
import torch
import torch.nn.functional as F

from pacbench.baselines.upsampling.djf import DJF
from pacbench.baselines.upsampling.dmsg import MSGNet
from pacbench.baselines.upsampling.sampling import sample_offset
from pacbench.pac import PacJointUpsampleLite

NETWORKS = {
    "djf": lambda channels: DJF(4, channels),
    "dmsg": lambda channels: MSGNet(4, channels),
    "pac_lite": lambda channels: PacJointUpsampleLite(4, channels, backend="reference"),
}


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize(
    ("low", "guide", "message"),
    [
        (
            (2, 1, 3, 4),
            (1, 3, 12, 16),
            r"low has shape \(2, 1, 3, 4\); .* a multiple of 2 channels",
        ),
        ((2, 3, 4), (1, 3, 12, 16), r"low has shape \(2, 3, 4\); expected \(B, C, h, w\)"),
        ((2, 2, 3, 4), (3, 3, 12, 16), r"guide has shape \(3, 3, 12, 16\); expected \(2 or 1, C"),
        ((1, 2, 3, 4), (3, 12, 16), r"guide has shape \(3, 12, 16\); expected \(1 or 1, C"),
    ],
)
def test_samples_are_never_taken_for_channels(
    name: str, low: tuple[int, ...], guide: tuple[int, ...], message: str
) -> None:
    network = NETWORKS[name](2)
    with pytest.raises(ValueError, match=message):
        network(torch.rand(low), torch.rand(guide))


@pytest.mark.parametrize("name", NETWORKS)
def test_one_guide_serves_a_whole_batch(name: str) -> None:
    network = NETWORKS[name](1)
    low, guide = torch.rand(2, 2, 3, 4), torch.rand(1, 3, 12, 16)
    torch.testing.assert_close(network(low, guide), network(low, guide.expand(2, -1, -1, -1)))


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
    network.start_as_filter()
    grown = F.interpolate(low, scale_factor=4, mode="bilinear")
    torch.testing.assert_close(network(low, guide), grown)
    with pytest.raises(ValueError, match="a network of 2 channels cannot begin as a filter"):
        DJF(4, channels=2).start_as_filter()


@pytest.mark.parametrize("factor", [2, 4, 8])
def test_dmsg_adds_the_low_frequencies(factor: int) -> None:
    network = MSGNet(factor)
    silence(network)
    low, guide = torch.rand(2, 1, 4, 5), torch.rand(2, 3, 4 * factor, 5 * factor)
    smooth = F.avg_pool2d(F.pad(low, (1, 1, 1, 1), mode="replicate"), 3, 1)
    grown = F.interpolate(smooth, scale_factor=factor, mode="bicubic", antialias=True)
    torch.testing.assert_close(network(low, guide), grown)


def carry_first_channel(network: torch.nn.Module) -> None:
    """Convolutions copy the first channel to the first; deconvolutions spread it over 5×5."""
    silence(network)
    for layer in network.modules():
        if isinstance(layer, torch.nn.ConvTranspose2d):
            layer.weight.data[0, 0] = 1
        elif isinstance(layer, torch.nn.Conv2d):
            layer.weight.data[0, 0, layer.kernel_size[0] // 2, layer.kernel_size[1] // 2] = 1


@pytest.mark.parametrize("factor", [2, 4, 8, 16])
def test_dmsg_grows_features_around_the_pixel_that_center_takes(factor: int) -> None:
    network, silent = MSGNet(factor), MSGNet(factor)
    carry_first_channel(network)
    silence(silent)
    low, guide = torch.zeros(1, 1, 9, 9), torch.zeros(1, 3, 9 * factor, 9 * factor)
    low[..., 4, 4] = 1
    with torch.inference_mode():
        spread = (network(low, guide) - silent(low, guide))[0, 0].abs()
    places = torch.arange(9 * factor) + 0.0
    centroid = [(spread.sum(dim) @ places / spread.sum()).item() for dim in (0, 1)]
    expected = 4 * factor + sample_offset(factor, "center")
    assert centroid == pytest.approx([expected, expected], abs=1e-3)


@pytest.mark.parametrize("size", [8, 2])
def test_dmsg_pools_the_guide_where_features_are_grown(size: int) -> None:
    """Pixel i of the smaller map is the largest of 2i, 2i + 1, 2i + 2, as the authors'."""
    pool = MSGNet(4).guide_next[0][-1]
    columns = torch.arange(size).expand(1, 1, size, size) + 0.0
    first, last = -pool(-columns)[0, 0, 0], pool(columns)[0, 0, 0]
    starts = torch.arange(0, size, 2)
    torch.testing.assert_close(first, starts + 0.0)
    torch.testing.assert_close(last, (starts + 2.0).clamp(max=size - 1))
    torch.testing.assert_close(pool(columns.mT), pool(columns).mT)


@pytest.mark.parametrize("guide", [(1, 3, 12, 17), (1, 3, 13, 16), (2, 3, 3, 4), (1, 1, 12, 16)])
def test_dmsg_refuses_guides_of_other_sizes(guide: tuple[int, ...]) -> None:
    message = re.escape(f"guide has shape {guide}; expected (B or 1, 3, 12, 16), 4 times")
    with pytest.raises(ValueError, match=message):
        MSGNet(4)(torch.rand(2, 1, 3, 4), torch.rand(guide))


@pytest.mark.parametrize(("factor", "parameters"), [(4, 326_404), (8, 454_660), (16, 582_916)])
def test_dmsg_has_the_parameters_of_the_authors_layers(factor: int, parameters: int) -> None:
    """Weights, biases and slopes (one a channel), summed over the layers of their Caffe models."""
    assert sum(p.numel() for p in MSGNet(factor).parameters()) == parameters


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
