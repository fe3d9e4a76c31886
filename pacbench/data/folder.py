"""A folder of the user's own: images with depth, flow or labels beside them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pacbench.data.base import (
    IGNORE_LABEL,
    Dataset,
    DatasetInfo,
    DatasetParams,
    Sample,
    datasets,
)
from pacbench.data.files import FileList, by_csv, by_stem
from pacbench.data.formats import read_depth, read_flow, read_image, read_labels
from pacbench.data.root import UserPath
from pacbench.data.unary import FilesUnary, Unary, with_unary
from pacbench.data.validity import clear_unknown, known_depth, known_flow
from pacbench.errors import UserError


class FolderParams(DatasetParams):
    """Parameters of a user's own folder."""

    root: UserPath = Field(description="the folder; subfolders train, val, test are its splits")
    images: str = Field("images", description="subfolder of the images")
    depth: str | None = Field(None, description="subfolder of depth: .png, .npy, .npz, .pfm, .mat")
    flow: str | None = Field(None, description="subfolder of flow: .flo, KITTI .png or .npy")
    labels: str | None = Field(None, description="subfolder of labels: palette or grey .png")
    csv: UserPath | None = Field(
        None,
        description="file that lists the samples instead of matching them by stem: columns image "
        "and any of depth, flow, labels, logits, split; paths are relative to root",
    )
    depth_scale: float = Field(1.0, gt=0, description="metres = value × depth_scale + depth_offset")
    depth_offset: float = Field(0.0, description="see depth_scale, in metres")
    depth_key: str | None = Field(None, description="name of the array in .npz and .mat files")
    zero_is_unknown: bool = Field(True, description="a stored depth of 0 means that it is unknown")
    classes: int = Field(21, ge=2, le=255, description="labels are 0 to classes - 1, or ignored")
    ignore: tuple[int, ...] = Field((), description="further label values to ignore, as 255 is")
    unary: Unary | None = Field(None, description="logits for the CRF task; null for none")


@dataclass(frozen=True)
class _Maps:
    """What is known of a sample beside its image."""

    depth: NDArray[np.float32] | None = None
    flow: NDArray[np.float32] | None = None
    valid: NDArray[np.bool_] | None = None


@datasets.register("folder")
class Folder(Dataset):
    """Samples matched by file stem, or listed in a CSV.

    A root without subfolders train, val or test, and without a column split, has one split, 'all':
    nobody is to train on a test set by mistake.
    """

    info: ClassVar[DatasetInfo] = DatasetInfo(
        name="folder",
        version="1",
        tasks=("crf", "upsample", "hotswap"),
        splits=("all", "train", "val", "test"),
        licence="the user's own",
        summary="images with depth, flow, labels or logits of the user's own",
    )
    Params: ClassVar[type[DatasetParams]] = FolderParams
    params: FolderParams

    def __init__(self, params: FolderParams, split: str, seed: int) -> None:
        super().__init__(params, split, seed)
        if not params.root.is_dir():
            raise UserError(f"dataset 'folder': root is not a folder: {params.root}")
        if params.csv is not None:
            self._files = by_csv(params.root, params.csv, split)
        else:
            kinds = {"depth": params.depth, "flow": params.flow, "labels": params.labels}
            folders = {kind: folder for kind, folder in kinds.items() if folder is not None}
            self._files = by_stem(params.root, params.images, folders, split)

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: int) -> Sample:
        self.need_index(index)
        files = self._files[index]
        maps = self._maps(files)
        sample = Sample(
            name=files.name,
            image=read_image(files.image),
            depth=maps.depth,
            flow=maps.flow,
            labels=self._labels(files),
            valid=maps.valid,
        )
        self._need_one_size(sample, files)
        unary = self.params.unary
        if files.logits is not None and isinstance(unary, FilesUnary):
            return replace(sample, unary=unary.read(files.logits, sample, self.params.classes))
        return with_unary(sample, unary, self.params.classes, self.seed)

    def _maps(self, files: FileList) -> _Maps:
        depth = flow = valid = None
        if files.depth is not None:
            params = self.params
            stored = read_depth(files.depth, params.depth_key)
            metres = stored * np.float32(params.depth_scale) + np.float32(params.depth_offset)
            known = known_depth(metres)
            if params.zero_is_unknown:
                known &= stored != 0
            depth, valid = clear_unknown(metres, known)
        if files.flow is not None:
            stored, in_file = read_flow(files.flow)
            flow, known_everywhere = clear_unknown(stored, known_flow(stored) & in_file)
            if known_everywhere is not None:
                valid = known_everywhere if valid is None else valid & known_everywhere
        return _Maps(depth, flow, valid)

    def _labels(self, files: FileList) -> NDArray[np.uint8] | None:
        if files.labels is None:
            return None
        labels = read_labels(files.labels)
        for value in self.params.ignore:
            labels[labels == value] = IGNORE_LABEL
        largest = int(np.max(labels, where=labels != IGNORE_LABEL, initial=0))
        if largest >= self.params.classes:
            raise UserError(
                f"{files.labels} has label {largest}; allowed are 0 to {self.params.classes - 1} "
                f"and {IGNORE_LABEL}: set 'classes', or list the value under 'ignore'"
            )
        return labels

    def _need_one_size(self, sample: Sample, files: FileList) -> None:
        size = sample.image.shape[1:]
        for kind in ("depth", "flow", "labels"):
            found = getattr(sample, kind)
            if found is not None and found.shape[-2:] != size:
                raise UserError(
                    f"{getattr(files, kind)} is {found.shape[-2]}×{found.shape[-1]}, "
                    f"its image {files.image} {size[0]}×{size[1]}"
                )
