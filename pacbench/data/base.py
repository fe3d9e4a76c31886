"""What every dataset gives, whatever it was read from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from pacbench.errors import UserError, did_you_mean
from pacbench.registry import Registry

IGNORE_LABEL = 255


@dataclass(frozen=True)
class Sample:
    """One image with what its task needs; fields that a dataset does not have are None.

    Attributes:
        name: unique within the split, fit for a file name.
        image: (3, H, W) uint8, RGB.
        depth: (H, W) float32, metres.
        flow: (2, H, W) float32, pixels, u then v.
        labels: (H, W) uint8, 255 = ignore.
        valid: (H, W) bool, True where depth and flow are known; None means everywhere. Where it
            is False they are 0.
        unary: (L, H, W) float32 logits, for the CRF task.
    """

    name: str
    image: NDArray[np.uint8]
    depth: NDArray[np.float32] | None = None
    flow: NDArray[np.float32] | None = None
    labels: NDArray[np.uint8] | None = None
    valid: NDArray[np.bool_] | None = None
    unary: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class DatasetInfo:
    """What a reader must know of a dataset before using it."""

    name: str
    version: str
    tasks: tuple[str, ...]
    splits: tuple[str, ...]
    licence: str
    summary: str


@dataclass(frozen=True)
class Source:
    """A published file that a dataset is read from.

    Attributes:
        url: where its owners publish it.
        md5: of the whole file.
        archive: whether it is unpacked into the dataset's root, or read as it is.
    """

    url: str
    md5: str
    archive: bool

    @property
    def filename(self) -> str:
        return self.url.rsplit("/", 1)[-1]


class DatasetParams(BaseModel):
    """Parameters of a dataset, as they stand under ``data: params:`` in a suite."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Dataset(ABC):
    """Samples of one split, by index; reading is lazy and the same index gives the same sample.

    A subclass is registered with ``@datasets.register(name)``, names its ``info`` and ``Params``,
    and raises ``UserError`` from ``__init__`` when its files are missing, so that a suite fails
    before any cell runs.
    """

    info: ClassVar[DatasetInfo]
    Params: ClassVar[type[DatasetParams]]
    sources: ClassVar[tuple[Source, ...]] = ()
    """What ``pacbench data fetch`` downloads; empty for what is not downloaded."""
    counts: ClassVar[dict[str, int]] = {}
    """Samples in each published split, for ``pacbench data verify``."""

    def __init__(self, params: DatasetParams, split: str, seed: int) -> None:
        if split not in self.info.splits:
            raise UserError(
                f"dataset '{self.info.name}' has no split '{split}'"
                f"{did_you_mean(split, self.info.splits)}; it has {', '.join(self.info.splits)}"
            )
        unary = getattr(params, "unary", None)
        if unary is not None:
            unary.need()
        self.params = params
        self.split = split
        self.seed = seed

    @property
    def protocol(self) -> str:
        """How samples are made, as records carry it: dataset, version and source of unaries."""
        unary = getattr(self.params, "unary", None)
        return f"{self.info.name}-{self.info.version}" + (f";{unary.protocol}" if unary else "")

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, index: int) -> Sample: ...

    def need_index(self, index: int) -> None:
        """Raises ``IndexError`` for what is no sample; negative indices are none."""
        if not 0 <= index < len(self):
            raise IndexError(
                f"sample {index} of {len(self)} in split '{self.split}' of '{self.info.name}'"
            )


datasets: Registry[Dataset] = Registry("dataset", ("pacbench.data",), "pacbench.datasets")
