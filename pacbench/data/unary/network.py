"""Unaries from a small network trained on generated scenes.

It has stride 8, as the networks have whose outputs CRFs refine: right in most places, blurred at
edges, blind to thin structures. ``python -m pacbench.data.unary.train`` makes its checkpoint.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pacbench.data.base import Sample
from pacbench.data.root import UserPath
from pacbench.data.unary.base import UnarySource
from pacbench.errors import UserError

if TYPE_CHECKING:
    import torch
    from torch import nn

STRIDE = 8
WIDTH = 64
CHECKPOINT = Path(__file__).with_name("scenes.pt")
CHECKPOINT_SHA256 = "24604ccc061c58b0ebc05f931981aecf5c3894a54961ac5187cad618d90b4432"


class NetworkUnary(UnarySource):
    """Logits of the network, grown bilinearly to the image's size."""

    name: Literal["network"]
    checkpoint: UserPath | None = Field(
        None, description="a file of pacbench.data.unary.train; null for the one in the package"
    )

    @property
    def protocol(self) -> str:
        return f"network:{_sha256(self.checkpoint or CHECKPOINT)[:8]}"

    def need(self) -> None:
        path = self.checkpoint or CHECKPOINT
        if not path.is_file():
            raise UserError(
                f"the unary network's checkpoint {path} does not exist; "
                f"python -m pacbench.data.unary.train --out {path} makes one"
            )

    def logits(self, sample: Sample, classes: int, seed: int) -> NDArray[np.float32]:  # noqa: ARG002
        """(classes, H, W) float32; does not depend on the seed.

        Raises:
            UserError: a checkpoint that is missing, damaged or of another number of classes.
        """
        import torch

        network = _load(self.checkpoint, classes)
        with torch.inference_mode():
            image = torch.from_numpy(sample.image)[None]
            height, width = sample.image.shape[1:]
            return network_logits(network, image, (height, width))[0].numpy()


def build_network(classes: int) -> nn.Sequential:
    """(B, 3, H, W) in [-1, 1] to (B, classes, ⌈H/8⌉, ⌈W/8⌉)."""
    from torch import nn

    def block(inputs: int, outputs: int, stride: int = 1, dilation: int = 1) -> nn.Sequential:
        return nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, dilation, dilation, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
        )

    return nn.Sequential(
        block(3, 16, stride=2),
        block(16, 32, stride=2),
        block(32, WIDTH, stride=2),
        *(block(WIDTH, WIDTH, dilation=dilation) for dilation in (1, 2, 4, 8, 2, 1)),
        nn.Conv2d(WIDTH, classes, 1),
    )


def network_logits(network: nn.Module, images: torch.Tensor, size: tuple[int, int]) -> torch.Tensor:
    """(B, 3, H, W) uint8 to (B, classes, *size) logits, grown bilinearly."""
    from torch.nn import functional

    small = network(images.float() / 127.5 - 1)
    return functional.interpolate(small, size, mode="bilinear", align_corners=False)


@lru_cache(maxsize=4)
def _load(checkpoint: Path | None, classes: int) -> nn.Sequential:
    import torch

    path = checkpoint or CHECKPOINT
    if checkpoint is None and _sha256(path) != CHECKPOINT_SHA256:
        raise UserError(f"the unary network's checkpoint {path} is damaged; reinstall pacbench")
    network = build_network(classes)
    try:
        state = torch.load(path, weights_only=True)
        network.load_state_dict({key: value.float() for key, value in state.items()})
    except Exception as error:  # torch raises anything for a file that is not its own
        raise UserError(f"{path} is no unary network of {classes} classes: {error}") from error
    return network.eval()


@lru_cache(maxsize=4)
def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
