"""Deep joint image filtering: two branches of convolutions, joined by a third.

Li et al., Deep joint image filtering, 2016. The input is first grown bilinearly to the size of the
guide. The ``state_dict`` keys are those of this network in PAC's release.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from pacbench.baselines.upsampling.network import UNTRAINED, NetworkParams, UpsampleNetwork
from pacbench.method import MethodInfo, methods
from pacbench.pac.carry import carry_
from pacbench.pac.one_by_one import as_images, for_each

Padding = Literal["same", "release"]

SIZES = (9, 1, 5)
PADDINGS: dict[Padding, tuple[int, ...]] = {"same": (4, 0, 2), "release": (2, 2, 2)}
"""Pixels that each layer of a branch is padded by: with ``same`` every layer keeps the size. PAC's
release spreads them evenly over the layers of the first two branches, which keeps the size of the
whole branch, but the two outermost pixels of its middle layer see nothing of the image.
"""


class DJF(nn.Module):
    """Filters of 9×9, 1×1 and 5×5: 96, 48, 1 in the branches and 64, 32 in the joint one; 56K.

    Args:
        factor: upsampling factor m.
        channels: of the input and output; a network of one channel takes inputs of more, which it
            upsamples one by one.
        guide_channels: of the image.
        residual: add the grown input to the output (DJF+).
        padding: of the first two branches; ``release`` is for weights of PAC's release.
    """

    def __init__(
        self,
        factor: int,
        channels: int = 1,
        guide_channels: int = 3,
        *,
        residual: bool = False,
        padding: Padding = "same",
    ) -> None:
        super().__init__()
        self.factor, self.channels, self.residual = factor, channels, residual
        self.branch_t = _branch(channels, 96, 48, 1, padding=padding)
        self.branch_g = _branch(guide_channels, 96, 48, 1, padding=padding)
        self.branch_joint = _branch(2, 64, 32, channels)

    def forward(self, low: Tensor, guide: Tensor) -> Tensor:
        """(B, C, h, w) and (B or 1, guide_channels, H, W) to (B, C, H, W).

        Raises:
            ValueError: inputs of other shapes.
        """
        images = as_images(low, guide, self.channels)
        size = (guide.shape[2], guide.shape[3])
        grown = F.interpolate(images, size, mode="bilinear", align_corners=False)
        features = for_each(self.branch_g(guide), images)
        output: Tensor = self.branch_joint(torch.cat((self.branch_t(grown), features), dim=1))
        if self.residual:
            output = output + grown
        return output.reshape(*low.shape[:2], *size)

    def start_as_filter(self) -> None:
        """Begin as bilinear interpolation, for short trainings: the first filters carry the input.

        With the release's padding, the border begins as less than that.

        Raises:
            ValueError: a network of several channels, which its target branch makes one of.
        """
        if self.channels > 1:
            raise ValueError(f"a network of {self.channels} channels cannot begin as a filter")
        for layer in (*self.branch_t, *self.branch_joint):
            if isinstance(layer, nn.Conv2d):
                carry_(layer, 1)
        if self.residual:
            for parameter in self.branch_joint[-1].parameters():
                nn.init.zeros_(parameter)

    def layers(self) -> dict[str, list[str]]:
        """Filters of each branch: C96 and so on."""
        branches = {"target": self.branch_t, "guidance": self.branch_g, "joint": self.branch_joint}
        return {
            name: [f"C{layer.out_channels}" for layer in branch if isinstance(layer, nn.Conv2d)]
            for name, branch in branches.items()
        }


def _branch(*channels: int, padding: Padding = "same") -> nn.Sequential:
    layers: list[nn.Module] = []
    for size, pixels, (n_in, n_out) in zip(
        SIZES, PADDINGS[padding], pairwise(channels), strict=True
    ):
        layers += [nn.Conv2d(n_in, n_out, size, padding=pixels), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class DJFParams(NetworkParams):
    padding: Padding = Field(
        "same",
        description="of the first two branches: `same` keeps the size in every layer, `release` is "
        "that of the PAC paper's release, for its weights",
    )


@methods.register("djf")
class DJFMethod(UpsampleNetwork):
    info = MethodInfo(
        title="DJF",
        paper="Li et al., Deep joint image filtering",
        year=2016,
        task="upsample",
        learnable=True,
        devices=("cpu", "cuda"),
        backends=("torch",),
        note=UNTRAINED,
    )
    Params = DJFParams
    params: DJFParams

    def network(self, backend: str) -> nn.Module:
        return DJF(self.factor, self.protocol.channels, padding=self.params.padding)


@methods.register("djf_ours")
class DJFOurs(DJFMethod):
    """The same network with the training of the PAC paper, its "DJF (Our impl.)"."""

    info = MethodInfo(
        title="DJF (our impl.)",
        paper="Su et al., Pixel-adaptive convolutional neural networks",
        year=2019,
        task="upsample",
        learnable=True,
        devices=("cpu", "cuda"),
        backends=("torch",),
        note=UNTRAINED,
    )
