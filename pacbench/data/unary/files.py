"""Unaries from files: the logits of a network that ran elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pacbench.data.base import Sample
from pacbench.data.resize import bilinear
from pacbench.data.root import UserPath
from pacbench.data.unary.base import UnarySource
from pacbench.errors import UserError


class FilesUnary(UnarySource):
    """One .npy per sample, (L, h, w), grown bilinearly to the image's size."""

    name: Literal["files"]
    root: UserPath = Field(description="folder of NAME.npy, one for each sample's name")
    grow_to: tuple[int, int] | None = Field(
        None,
        description="height and width of the padded image that the logits are of: they are grown "
        "to this and cropped at the right and bottom; null if they are of the image itself",
    )
    align_corners: bool = Field(
        False, description="how to grow: true where the centres of the corner pixels match"
    )

    @property
    def protocol(self) -> str:
        grown = f",to{self.grow_to[0]}x{self.grow_to[1]}" if self.grow_to else ""
        return f"files:{self.root.name}{grown}{',corners' if self.align_corners else ''}"

    def need(self) -> None:
        if not self.root.is_dir():
            raise UserError(f"the folder of the unaries' logits is missing: {self.root}")

    def logits(self, sample: Sample, classes: int, seed: int) -> NDArray[np.float32]:  # noqa: ARG002
        """(classes, H, W) float32.

        Raises:
            UserError: a file that is missing or does not fit.
        """
        return self.read(self.root / f"{sample.name}.npy", sample, classes)

    def read(self, path: Path, sample: Sample, classes: int) -> NDArray[np.float32]:
        """As ``logits``, from a file of any name."""
        height, width = sample.image.shape[1:]
        try:
            small = np.load(path, allow_pickle=False)
        except FileNotFoundError:
            raise UserError(f"the logits of sample '{sample.name}' are missing: {path}") from None
        except (OSError, ValueError) as error:
            raise UserError(f"{path} cannot be read as logits: {error}") from error
        if small.ndim != 3 or small.shape[0] != classes or 0 in small.shape:
            raise UserError(f"{path} has shape {small.shape}, expected ({classes}, h, w)")
        target = self.grow_to or (height, width)
        if target[0] < height or target[1] < width:
            raise UserError(
                f"grow_to is {target[0]}×{target[1]}, smaller than the image "
                f"'{sample.name}' of {height}×{width}"
            )
        grown = bilinear(small.astype(np.float32), target, self.align_corners)
        return np.ascontiguousarray(grown[:, :height, :width])
