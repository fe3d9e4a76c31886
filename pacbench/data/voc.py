"""Pascal VOC segmentation, with the larger training set of SBD and FCN's reduced validation set."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pacbench.data.base import (
    Dataset,
    DatasetInfo,
    DatasetParams,
    Sample,
    Source,
    datasets,
)
from pacbench.data.formats import read_image, read_labels
from pacbench.data.root import UserPath, first_existing, need
from pacbench.data.unary import NoiseUnary, Unary, with_unary
from pacbench.errors import UserError

CLASSES = 21
VOC_NESTS = (
    ".", "VOC2011", "VOC2012", "VOCdevkit/VOC2011", "VOCdevkit/VOC2012",
    "TrainVal/VOCdevkit/VOC2011",
)  # fmt: skip
SBD_NESTS = ("benchmark_RELEASE/dataset", "sbd", "dataset")


class VocParams(DatasetParams):
    """Parameters of Pascal VOC."""

    root: UserPath = Field(
        Path("data/voc"), description="folder that holds VOC2011 or VOC2012, and SBD if it is used"
    )
    sbd: bool = Field(
        True, description="train on SBD's training set, and leave its images out of validation"
    )
    val_list: UserPath | None = Field(
        None, description="file of image names for 'val', instead of val.txt minus SBD's train.txt"
    )
    unary: Unary | None = Field(
        default_factory=NoiseUnary, description="logits for the CRF task; null for none"
    )


@datasets.register("voc")
class Voc(Dataset):
    """Image, labels and unaries. With VOC 2011 and SBD: 8498 for training, 736 for validation."""

    info: ClassVar[DatasetInfo] = DatasetInfo(
        name="voc",
        version="2011",
        tasks=("crf", "hotswap"),
        splits=("train", "val"),
        licence=(
            "Everingham et al., 'The Pascal Visual Object Classes Challenge'; images from flickr, "
            "under flickr's terms of use. SBD: Hariharan et al., ICCV 2011"
        ),
        summary="photographs with 21 classes, VOC 2011 segmentation with SBD",
    )
    Params: ClassVar[type[DatasetParams]] = VocParams
    sources: ClassVar[tuple[Source, ...]] = (
        Source(
            "http://host.robots.ox.ac.uk/pascal/VOC/voc2011/VOCtrainval_25-May-2011.tar",
            "6c3384ef61512963050cb5d687e5bf1e",
            archive=True,
        ),
        Source(
            "https://www2.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/"
            "semantic_contours/benchmark.tgz",
            "82b4d87ceb2ed10f6038a1cba92111cb",
            archive=True,
        ),
    )
    counts: ClassVar[dict[str, int]] = {"train": 8498, "val": 736}
    params: VocParams

    def __init__(self, params: VocParams, split: str, seed: int) -> None:
        super().__init__(params, split, seed)
        self._voc = first_existing(params.root, VOC_NESTS, "ImageSets/Segmentation", "voc")
        self._sbd: Path | None = None
        if params.sbd:
            try:
                self._sbd = first_existing(params.root, SBD_NESTS, "cls", "voc")
            except UserError as error:
                raise UserError(f"{error}; or 'sbd: false' leaves SBD out") from None
        self._names = self._train_names() if split == "train" else self._val_names()

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, index: int) -> Sample:
        self.need_index(index)
        name = self._names[index]
        if self._sbd is not None and self.split == "train":
            image = read_image(self._sbd / "img" / f"{name}.jpg")
            labels = _read_sbd(self._sbd / "cls" / f"{name}.mat")
        else:
            image = read_image(self._voc / "JPEGImages" / f"{name}.jpg")
            labels = read_labels(self._voc / "SegmentationClass" / f"{name}.png")
        sample = Sample(name=name, image=image, labels=labels)
        return with_unary(sample, self.params.unary, CLASSES, self.seed)

    def _train_names(self) -> list[str]:
        if self._sbd is not None:
            return _read_list(self._sbd / "train.txt")
        return _read_list(self._voc / "ImageSets/Segmentation/train.txt")

    def _val_names(self) -> list[str]:
        if self.params.val_list is not None:
            return _read_list(self.params.val_list)
        names = _read_list(self._voc / "ImageSets/Segmentation/val.txt")
        if self._sbd is None:
            return names
        trained_on = set(_read_list(self._sbd / "train.txt"))
        return [name for name in names if name not in trained_on]


def _read_list(path: Path) -> list[str]:
    return need(path, "voc").read_text().split()


def _read_sbd(path: Path) -> NDArray[np.uint8]:
    """(H, W) labels of SBD: the field Segmentation of the struct GTcls."""
    from scipy.io import loadmat

    need(path, "voc")
    try:
        return np.asarray(loadmat(path)["GTcls"]["Segmentation"][0, 0], dtype=np.uint8)
    except Exception as error:  # scipy raises anything for a file that is not MATLAB's
        raise UserError(f"{path} cannot be read as labels of SBD: {error}") from error
