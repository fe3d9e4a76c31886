"""Unaries for the CRF task: (L, H, W) logits per sample, from noise, a network or files.

Every source is a pydantic model with a ``name``, so that it stands under ``unary:`` in a dataset's
parameters, has a ``protocol`` for the records, and one method::

    logits(sample, classes, seed) -> (classes, H, W) float32
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from pacbench.data.base import Sample
from pacbench.data.unary.files import FilesUnary
from pacbench.data.unary.network import NetworkUnary
from pacbench.data.unary.noise import NoiseUnary

Unary = Annotated[NoiseUnary | NetworkUnary | FilesUnary, Field(discriminator="name")]


def with_unary(sample: Sample, unary: Unary | None, classes: int, seed: int) -> Sample:
    """The sample with its logits; unchanged if there is no source of them."""
    if unary is None:
        return sample
    return replace(sample, unary=unary.logits(sample, classes, seed))


__all__ = ["FilesUnary", "NetworkUnary", "NoiseUnary", "Unary", "with_unary"]
