"""What a training learns from, and what decides which weights it keeps: not what is reported on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pacbench.data.base import Sample
from pacbench.errors import UserError
from pacbench.suite.schema import DataSpec
from pacbench.suite.splits import open_split
from pacbench.train.spec import TrainingSpec

HELD_OUT = 10
"""One in so many training samples is held out where a dataset has none for validation."""


class Samples(Protocol):
    """Samples by index, as datasets have them."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Sample: ...


@dataclass(frozen=True)
class Part:
    """Some of the samples, in an order of their own."""

    whole: Samples
    indices: Sequence[int]

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: int) -> Sample:
        return self.whole[self.indices[index]]


def open_samples(data: DataSpec, spec: TrainingSpec, seed: int) -> tuple[Samples, Samples]:
    """The samples to learn from and those to validate on.

    The latter are those of the validation split. Where it is empty, or is the split that is
    reported on or learned from, the last tenth of the training samples is held out instead.

    Raises:
        UserError: too few samples, or no such split.
    """
    training = open_split(data, spec.split, seed, spec.params, "training")
    if spec.validation_split not in (spec.split, data.split):
        try:
            validation = open_split(data, spec.validation_split, seed, {}, "training")
        except UserError as error:
            raise UserError(
                f"{error}; it is for validation: `--set training.validation_split={spec.split}` "
                f"holds out a tenth of '{spec.split}' instead"
            ) from None
        if len(validation) and len(training):
            return training, validation
    if len(training) < 2:
        raise UserError(
            f"dataset '{data.name}', split '{spec.split}': has {len(training)} samples, and none "
            "to hold out for validation; training needs two, or another `validation_split`"
        )
    return hold_out(training, seed)


def hold_out(samples: Samples, seed: int) -> tuple[Part, Part]:
    """All but the last tenth, and that.

    Neighbours may be frames of one film, so the tenth is of one piece; its order is random, for
    the first few of it are to stand for all.
    """
    first = len(samples) - max(1, len(samples) // HELD_OUT)
    last = list(range(first, len(samples)))
    random.Random(seed).shuffle(last)  # noqa: S311, which samples is no secret
    return Part(samples, range(first)), Part(samples, last)
