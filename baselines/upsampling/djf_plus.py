"""DJF+: deep joint image filtering that predicts what the grown input lacks.

Li et al., Joint image filtering with deep convolutional networks, 2018: the network of DJF, with
its input added to its output.
"""

from __future__ import annotations

from torch import nn

from pacbench.baselines.upsampling.djf import DJF
from pacbench.baselines.upsampling.network import UNTRAINED, UpsampleNetwork
from pacbench.method import MethodInfo, methods


@methods.register("djf_plus")
class DJFPlus(UpsampleNetwork):
    info = MethodInfo(
        title="DJF+",
        paper="Li et al., Joint image filtering with deep convolutional networks",
        year=2018,
        task="upsample",
        learnable=True,
        devices=("cpu", "cuda"),
        backends=("torch",),
        note=UNTRAINED,
    )

    def network(self, backend: str) -> nn.Module:
        return DJF(self.factor, self.protocol.channels, residual=True)
