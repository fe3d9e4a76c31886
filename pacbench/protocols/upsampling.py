"""What an upsampling method is given, and how its output is brought back to the sample's units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pacbench.data.base import Sample
from pacbench.data.draws import Draws, key_of
from pacbench.data.resize import bilinear
from pacbench.protocols.base import ProtocolParams
from pacbench.protocols.lowres import Map, Mode, fill_invalid, padded_size, shrink


@dataclass(frozen=True)
class UpsampleInputs:
    """Inputs of one sample; N images of C channels each.

    Attributes:
        low: (N, C, h, w) float32, in [0, 1] by its own minimum and maximum per channel.
        guide: (1, 3, h m, w m) float32 in [0, 1], for all N images.
        size: (H, W) of the sample, which the factor m need not divide.
        minimum, span: (N, C, 1, 1) that undo the normalisation.
    """

    low: NDArray[np.float32]
    guide: NDArray[np.float32]
    size: tuple[int, int]
    minimum: NDArray[np.float32]
    span: NDArray[np.float32]

    def finish(self, output: NDArray[np.float32]) -> Map:
        """(N, C, h m, w m) as a method gave it to (N C, H, W) in the sample's units.

        Raises:
            ValueError: an output of another shape.
        """
        expected = (*self.low.shape[:2], *self.guide.shape[2:])
        if output.shape != expected:
            raise ValueError(f"the method returned shape {output.shape}, expected {expected}")
        restored = output * self.span + self.minimum
        return bilinear(restored.reshape(-1, *expected[2:]), self.size)


class UpsampleProtocol(ProtocolParams):
    """How the low-resolution input of a depth map or flow is made."""

    target: Literal["depth", "flow"] = Field("depth", description="what is upsampled")
    factor: int = Field(4, ge=1, description="upsampling factor m")
    mode: Mode = Field(
        "center",
        description="center: the strided pick of the paper's depth experiments; bilinear: its flow",
    )
    noise: float = Field(
        0.0, ge=0, description="noise on the low-resolution map: deviation in metres or pixels"
    )
    joint_channels: bool = Field(
        False, description="give u and v of a flow as two channels of one image, not as two images"
    )

    @property
    def channels(self) -> int:
        """Channels of each image that a method is given."""
        return 2 if self.target == "flow" and self.joint_channels else 1

    @property
    def name(self) -> str:
        """The protocol as records carry it: ``depth,center,x4``, ``flow,bilinear,x8,joint``."""
        parts = [self.target, self.mode, f"x{self.factor}"]
        if self.noise:
            parts.append(f"noise{self.noise:g}")
        if self.joint_channels:
            parts.append("joint")
        return ",".join(parts)

    def inputs_of(self, sample: Sample, seed: int = 0) -> UpsampleInputs:
        """The inputs that a sample's depth or flow gives.

        Raises:
            ValueError: the sample has no such map, or no valid pixel in it.
        """
        target = self.target_of(sample)
        if sample.valid is not None:
            target = fill_invalid(target, sample.valid)
        return self.inputs(target, sample.image, key_of(seed, sample.name))

    def target_of(self, sample: Sample) -> Map:
        """The depth (1, H, W) or the flow (2, H, W) of a sample.

        Raises:
            ValueError: the sample has no such map.
        """
        found = sample.depth if self.target == "depth" else sample.flow
        if found is None:
            raise ValueError(f"sample '{sample.name}' has no {self.target} to upsample")
        return found if found.ndim == 3 else found[None]

    def inputs(
        self, target: Map, image: NDArray[np.uint8], key: int = 0, whole: Map | None = None
    ) -> UpsampleInputs:
        """The inputs for any (C, H, W) target and (3, H, W) image, as crops in training.

        Args:
            key: seeds the noise.
            whole: the map that the target is a crop of; its range is then that of the
                normalisation, so that the crop is what the network sees of it in a whole image.
        """
        height, width = image.shape[1:]
        low = shrink(target, self.factor, self.mode)
        if self.noise:
            disturbance = Draws(key).bell(low.size).reshape(low.shape)
            low = low + np.float32(self.noise) * disturbance
        low = low[None] if self.joint_channels else low[:, None]
        ranged = low if whole is None else whole.reshape(*low.shape[:2], *whole.shape[1:])
        minimum = ranged.min(axis=(2, 3), keepdims=True)
        maximum = ranged.max(axis=(2, 3), keepdims=True)
        # A flat map would be divided by zero: half a unit to either side.
        half = np.where(minimum == maximum, np.float32(0.5), np.float32(0))
        minimum, span = minimum - half, maximum - minimum + 2 * half
        guide = image[None].astype(np.float32) / np.float32(255)
        return UpsampleInputs(
            low=(low - minimum) / span,
            guide=bilinear(guide, padded_size((height, width), self.factor)),
            size=(height, width),
            minimum=minimum,
            span=span,
        )
