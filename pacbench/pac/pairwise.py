"""What a pairwise potential of a PAC-CRF is, and the layer that sends its messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from torch import nn

from pacbench.errors import did_you_mean
from pacbench.pac.layers import PacConv2d

CompatType = Literal["4d", "2d", "potts", "na"]


@dataclass(frozen=True)
class PairwiseKernel:
    """One pairwise potential; :meth:`PacCRF.add_pairwise_kernel` explains the fields."""

    kernel_size: int = 3
    dilation: int = 1
    blur: int = 1
    compat_type: CompatType = "4d"
    spatial_filter: bool = True
    pairwise_weight: float = 1.0

    def __post_init__(self) -> None:
        if self.kernel_size % 2 == 0:
            raise ValueError(f"kernel_size is {self.kernel_size}; expected an odd number")
        if self.blur < 1:
            raise ValueError(f"blur is {self.blur}; expected 1 (none) or more")
        check_word("compat_type", self.compat_type, get_args(CompatType))

    @property
    def signed_weight(self) -> float:
        """Potts terms say what supports a label, the others what opposes it."""
        return -self.pairwise_weight if self.compat_type == "potts" else self.pairwise_weight

    @property
    def learns_weight(self) -> bool:
        """Only plain Potts terms do; elsewhere W or the compatibility can scale itself."""
        return self.compat_type == "potts" and not self.spatial_filter

    def messenger(
        self, channels: int, perturbed_init: bool, native_impl: bool, backend: str
    ) -> nn.Conv2d | PacConv2d:
        """The layer from marginals (B, L, H, W) to messages."""
        padding = self.kernel_size // 2 * self.dilation
        if self.compat_type == "na":
            return nn.Conv2d(
                channels,
                channels,
                self.kernel_size,
                padding=padding,
                dilation=self.dilation,
                bias=False,
            )
        if self.compat_type != "4d" and not self.spatial_filter:
            filler = "crf_pool"
        else:
            filler = "crf_perturbed" if perturbed_init else "crf"
        return PacConv2d(
            channels,
            channels,
            self.kernel_size,
            padding=padding,
            dilation=self.dilation,
            bias=False,
            shared_filters=self.compat_type != "4d",
            filler=filler,
            native_impl=native_impl,
            backend=backend,
        )

    def __str__(self) -> str:
        """``4ds_5_16_1``: compatibility (s: spatial filter), size, dilation, blur."""
        filtered = "s" if self.spatial_filter else ""
        return f"{self.compat_type}{filtered}_{self.kernel_size}_{self.dilation}_{self.blur}"


def check_word(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Raises ValueError for a word that is not allowed."""
    if value not in allowed:
        raise ValueError(
            f"{name} is '{value}'; allowed: {', '.join(allowed)}{did_you_mean(value, allowed)}"
        )
