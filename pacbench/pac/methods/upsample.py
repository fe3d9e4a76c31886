"""The PAC networks for joint upsampling as the harness runs them."""

from __future__ import annotations

from torch import nn

from pacbench.baselines.upsampling.network import UNTRAINED, UpsampleNetwork
from pacbench.method import MethodInfo, methods
from pacbench.pac.upsample import PacJointUpsample, PacJointUpsampleLite


def _info(title: str) -> MethodInfo:
    return MethodInfo(
        title=title,
        paper="Su et al., Pixel-adaptive convolutional neural networks",
        year=2019,
        task="upsample",
        learnable=True,
        devices=("cpu", "cuda"),
        backends=("native", "reference"),
        note=UNTRAINED,
    )


@methods.register("pac")
class PacUpsample(UpsampleNetwork):
    info = _info("PAC")

    def network(self, backend: str) -> nn.Module:
        return PacJointUpsample(self.factor, self.protocol.channels, backend=backend)


@methods.register("pac_lite")
class PacUpsampleLite(UpsampleNetwork):
    info = _info("PAC-lite")

    def network(self, backend: str) -> nn.Module:
        return PacJointUpsampleLite(self.factor, self.protocol.channels, backend=backend)
