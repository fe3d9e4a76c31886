"""MSG-Net: depth upsampling by multi-scale guidance.

Hui et al., Depth map super-resolution by deep multi-scale guidance, 2016. Each level doubles the
features of the low-resolution input by a deconvolution and fuses them with features of the image
at that size. Input and image enter by their high frequencies (what a 3×3 mean leaves out); the low
ones are grown bicubically and added to the output.

As in the authors' Caffe models, the features of low-resolution pixel i are grown around 2i in the
first level and 2i + 1 in all others: around m i + m/2 - 1 in the end, the pixel that ``center``
takes. Pooling puts the image's features in the same places. Their layers lose the last row and
column, m h - 1 of m h; here every level doubles the size exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pacbench.baselines.upsampling.network import UNTRAINED, UpsampleNetwork
from pacbench.method import MethodInfo, methods
from pacbench.pac.one_by_one import as_images, for_each

LUMA = (0.299, 0.587, 0.114)


class MSGNet(nn.Module):
    """Of 5×5 filters but for the first 7×7 of the image's; 32 of each but for the first layers.

    Args:
        factor: upsampling factor m, a power of two; log₂ m levels.
        channels: of the input and output; a network of one channel takes inputs of more, which it
            upsamples one by one.

    Raises:
        ValueError: a factor that is no power of two.
    """

    def __init__(self, factor: int, channels: int = 1) -> None:
        super().__init__()
        levels = factor.bit_length() - 1
        if factor < 2 or factor != 1 << levels:
            raise ValueError(f"factor is {factor}; it must be a power of two, 2 or more")
        self.factor, self.channels = factor, channels
        self.guide_first = nn.Sequential(*_conv(1, 49, size=7), *_conv(49, 32))
        self.guide_next = nn.ModuleList(
            nn.Sequential(*_conv(32, 32), nn.MaxPool2d(3, 2, ceil_mode=True))
            for _ in range(levels - 1)
        )
        self.first = nn.Sequential(*_conv(channels, 64))
        self.grow = nn.ModuleList(
            nn.Sequential(nn.ConvTranspose2d(n, 32, 5, 2, padding, more), nn.PReLU(32))
            for n, padding, more in ((64, 2, 1), *((32, 1, 0),) * (levels - 1))
        )
        self.fuse = nn.ModuleList(
            nn.Sequential(*_conv(64, 32), *_conv(32, 32)) for _ in range(levels)
        )
        self.last = nn.Sequential(*_conv(32, 32), nn.Conv2d(32, channels, 5, padding=2))

    def forward(self, low: Tensor, guide: Tensor) -> Tensor:
        """(B, C, h, w) and (B or 1, 3, h m, w m) to (B, C, h m, w m).

        Raises:
            ValueError: inputs of other shapes.
        """
        images = as_images(low, guide, self.channels)
        size = (low.shape[2] * self.factor, low.shape[3] * self.factor)
        if guide.shape[1:] != (3, *size):
            raise ValueError(
                f"guide has shape {tuple(guide.shape)}; expected (B or 1, 3, {size[0]}, {size[1]}),"
                f" {self.factor} times the size of a low of shape {tuple(low.shape)}"
            )
        smooth = _mean3(images)
        x = self.first(images - smooth)
        for grow, fuse, features in zip(
            self.grow, self.fuse, reversed(self._guidance(guide)), strict=True
        ):
            # Levels after the first make one row and column more than twice as many.
            grown = grow(x)[..., : features.shape[2], : features.shape[3]]
            x = fuse(torch.cat((grown, for_each(features, images)), dim=1))
        # `antialias` changes nothing in growing but the kernel, to MATLAB's, which the authors use.
        output = self.last(x) + F.interpolate(smooth, size, mode="bicubic", antialias=True)
        return output.reshape(*low.shape[:2], *size)

    def _guidance(self, guide: Tensor) -> list[Tensor]:
        """Features of the image at each size, the largest first."""
        luma = (guide * guide.new_tensor(LUMA)[:, None, None]).sum(dim=1, keepdim=True)
        edges = luma - _mean3(luma)
        least, most = edges.amin((2, 3), keepdim=True), edges.amax((2, 3), keepdim=True)
        features = [self.guide_first((edges - least) / (most - least).clamp(min=1e-6))]
        for layer in self.guide_next:
            features.append(layer(features[-1]))
        return features

    def layers(self) -> dict[str, list[str]]:
        """Filters of each branch: C32 is a convolution, D32 a deconvolution."""
        levels = zip(self.grow, self.fuse, strict=True)
        return {
            "guidance": _letters([self.guide_first, *self.guide_next]),
            "target": _letters([self.first, *(part for level in levels for part in level)])
            + _letters([self.last]),
        }


def _conv(n_in: int, n_out: int, size: int = 5) -> tuple[nn.Module, nn.Module]:
    return nn.Conv2d(n_in, n_out, size, padding=size // 2), nn.PReLU(n_out)


def _mean3(image: Tensor) -> Tensor:
    return F.avg_pool2d(F.pad(image, (1, 1, 1, 1), mode="replicate"), 3, 1)


def _letters(parts: Sequence[nn.Module]) -> list[str]:
    kinds = {nn.Conv2d: "C", nn.ConvTranspose2d: "D"}
    layers = [layer for part in parts for layer in part.modules() if type(layer) in kinds]
    return [f"{kinds[type(layer)]}{layer.out_channels}" for layer in layers]


@methods.register("dmsg")
class DMSG(UpsampleNetwork):
    info = MethodInfo(
        title="DMSG",
        paper="Hui et al., Depth map super-resolution by deep multi-scale guidance",
        year=2016,
        task="upsample",
        learnable=True,
        devices=("cpu", "cuda"),
        backends=("torch",),
        note=UNTRAINED,
    )

    def network(self, backend: str) -> nn.Module:
        return MSGNet(self.factor, self.protocol.channels)
