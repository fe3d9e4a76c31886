"""The paper's networks for joint upsampling, with the ``state_dict`` keys of its release.

An encoder convolves the low-resolution input, a guidance branch the image; the decoder grows the
encoder's features by transposed PACs, a factor of two each, and ends in two convolutions. The
guidance branch's channels are shared out equally: the i-th transposed PAC is guided by the i-th
share, shrunk bilinearly to the size of its output.

The paper's text puts a ReLU after every layer but the very last. Its release leaves it out after
the last convolution of the encoder and of the guidance branch too, and so do these networks:
released weights give the released outputs.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from itertools import pairwise
from typing import cast

import torch.nn.functional as F
from torch import Tensor, nn

from pacbench.pac.carry import carry_, carry_grown_, ones_
from pacbench.pac.layers import PacConvTranspose2d
from pacbench.pac.one_by_one import as_images, for_each
from pacbench.pac.quotient import quotient_

SIGMA_RANGE = 1.0
"""Of the bilateral filters that a network begins as, in shares of the guide's range."""


class PacJointUpsample(nn.Module):
    """Upsamples by a power of two, guided by an image; the paper's *standard* network.

    Has 183K, 222K and 260K parameters for factors 4, 8 and 16. All filters are 5×5.

    Args:
        factor: upsampling factor m, a power of two.
        channels: of the input and output. A network of one channel takes inputs of more, which it
            upsamples one by one with the same guide: this is how the release upsamples flow.
        guide_channels: of the image.
        encoder: filters of the encoder's convolutions.
        guidance: filters of the guidance branch's convolutions, without its last one.
        decoder: filters of the transposed PACs and of the convolution that follows them; 32 each
            by default.
        share: channels of the guidance branch for each transposed PAC.
        backend: of the PAC layers; see ``pacbench.kernels``.

    Raises:
        ValueError: a factor that is no power of two, or filters that do not fit it.
    """

    def __init__(
        self,
        factor: int,
        channels: int = 1,
        guide_channels: int = 3,
        *,
        encoder: Sequence[int] = (32, 32, 32),
        guidance: Sequence[int] = (32, 32),
        decoder: Sequence[int] | None = None,
        share: int = 16,
        backend: str = "auto",
    ) -> None:
        super().__init__()
        steps = factor.bit_length() - 1
        if factor < 2 or factor != 1 << steps:
            raise ValueError(f"factor is {factor}; it must be a power of two, 2 or more")
        grown = tuple(decoder) if decoder is not None else (32,) * (steps + 1)
        if len(grown) != steps + 1:
            raise ValueError(
                f"decoder has {len(grown)} entries; factor {factor} needs {steps} for the "
                "transposed PACs and one for the convolution after them"
            )
        self.factor, self.channels, self.share = factor, channels, share
        self.branch_t = _branch(channels, *encoder)
        self.branch_g = _branch(guide_channels, *guidance, share * steps)
        self.up_convts = nn.ModuleList(
            PacConvTranspose2d(n_in, n_out, 5, 2, 2, 1, backend=backend)
            for n_in, n_out in pairwise((encoder[-1], *grown[:-1]))
        )
        self.branch_f = _branch(grown[-2], grown[-1], channels)

    def forward(self, low: Tensor, guide: Tensor) -> Tensor:
        """(B, C, h, w) and (B or 1, guide_channels, H, W) to (B, C, H, W).

        H and W are best h m and w m; a guide of another size is resized to that bilinearly, and
        the output back, as the release does.

        Raises:
            ValueError: inputs of other shapes.
        """
        images = as_images(low, guide, self.channels)
        size = (low.shape[2] * self.factor, low.shape[3] * self.factor)
        features = self.branch_g(_resized(guide, size))
        x = self.branch_t(images)
        for layer, own in zip(self.up_convts, features.split(self.share, dim=1), strict=True):
            own = _resized(own, (2 * x.shape[2], 2 * x.shape[3]))
            x = F.relu(layer(x, for_each(own, images)))
        output = self.branch_f(x).reshape(*low.shape[:2], *size)
        return _resized(output, (guide.shape[2], guide.shape[3]))

    def start_as_filter(self) -> None:
        """Begin as joint bilateral upsampling by steps of two, or almost: for short trainings.

        One channel carries the input, one carries ones, and the guidance branch the image, so that
        the transposed PACs are bilateral filters. Their K do not sum to one, but the first channel
        over the second is a weighted mean in the end: the last convolutions begin as that quotient.

        Raises:
            ValueError: a network of several channels.
        """
        if self.channels > 1:
            raise ValueError(f"a network of {self.channels} channels cannot begin as a filter")
        encoder, guidance = _convolutions(self.branch_t), _convolutions(self.branch_g)
        for layer in encoder:
            carry_(layer, 1)
        ones_(encoder[-1], 1)
        for grown in self.up_convts:
            carry_grown_(cast(PacConvTranspose2d, grown), 2)
        quotient_(*_convolutions(self.branch_f))
        *inner, outer = guidance
        for layer in inner:
            carry_(layer, guidance[0].in_channels)
        for first in range(0, outer.out_channels, self.share):
            carry_(outer, guidance[0].in_channels, to=first, gain=1 / SIGMA_RANGE)

    def layers(self) -> dict[str, list[str]]:
        """The branches in the letters of the paper's table: C32, P32 and so on."""
        return {
            "encoder": _letters(self.branch_t),
            "guidance": _letters(self.branch_g),
            "decoder": [f"P{layer.out_channels}" for layer in self.up_convts]
            + _letters(self.branch_f),
        }


class PacJointUpsampleLite(PacJointUpsample):
    """The paper's *lite* network: about the 56K parameters of DJF, for factors 4, 8 and 16.

    Args: see :class:`PacJointUpsample`.

    Raises:
        ValueError: a factor that the paper's table does not have.
    """

    def __init__(
        self, factor: int, channels: int = 1, guide_channels: int = 3, *, backend: str = "auto"
    ) -> None:
        if factor not in _LITE:
            raise ValueError(f"factor is {factor}; the lite network is made for 4, 8 and 16")
        encoder, guidance, decoder, share = _LITE[factor]
        super().__init__(
            factor,
            channels,
            guide_channels,
            encoder=encoder,
            guidance=guidance,
            decoder=decoder,
            share=share,
            backend=backend,
        )


_LITE = {
    4: ((12, 16, 22), (12, 22), (12, 16, 22), 12),
    8: ((12, 16, 16), (12, 16), (12, 16, 16, 20), 12),
    16: ((8, 16, 16), (8, 16), (8, 16, 16, 16, 16), 10),
}
"""Per factor: encoder, guidance, decoder and share, from the appendix's table."""


def _branch(*channels: int) -> nn.Sequential:
    """Convolutions from each number of channels to the next, with ReLUs between them."""
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    for number, (n_in, n_out) in enumerate(pairwise(channels), start=1):
        if layers:
            layers[f"relu{number - 1}"] = nn.ReLU()
        layers[f"conv{number}"] = nn.Conv2d(n_in, n_out, 5, padding=2)
    return nn.Sequential(layers)


def _convolutions(branch: nn.Sequential) -> list[nn.Conv2d]:
    return [layer for layer in branch if isinstance(layer, nn.Conv2d)]


def _letters(branch: nn.Sequential) -> list[str]:
    return [f"C{layer.out_channels}" for layer in _convolutions(branch)]


def _resized(image: Tensor, size: tuple[int, int]) -> Tensor:
    """Bilinearly, without a filter before shrinking; as it is if it has that size."""
    if tuple(image.shape[2:]) == size:
        return image
    return F.interpolate(image, size, mode="bilinear", align_corners=False)
