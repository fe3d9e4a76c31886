"""NYU Depth V2: indoor images with Kinect depth, filled in by its authors."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from pacbench.data.base import (
    Dataset,
    DatasetInfo,
    DatasetParams,
    Sample,
    Source,
    datasets,
)
from pacbench.data.root import UserPath, need, open_hint
from pacbench.data.validity import clear_unknown, known_depth
from pacbench.errors import UserError

SAMPLES = 1449
TRAIN = 1000


class NyuParams(DatasetParams):
    """Parameters of NYU Depth V2."""

    root: UserPath = Field(Path("data/nyu"), description="folder of nyu_depth_v2_labeled.mat")
    val: int = Field(
        0, ge=0, lt=TRAIN, description="samples at the end of the training range kept for 'val'"
    )


@datasets.register("nyu")
class Nyu(Dataset):
    """Image and depth, 480×640; the first 1000 samples are for training, as in the paper."""

    info: ClassVar[DatasetInfo] = DatasetInfo(
        name="nyu",
        version="2",
        tasks=("upsample",),
        splits=("train", "val", "test"),
        licence=(
            "Silberman, Hoiem, Kohli & Fergus, 'Indoor Segmentation and Support Inference from "
            "RGBD Images', ECCV 2012; for research, see the dataset's page"
        ),
        summary="1449 indoor images with depth, 480×640",
    )
    Params: ClassVar[type[DatasetParams]] = NyuParams
    sources: ClassVar[tuple[Source, ...]] = (
        Source(
            "http://horatio.cs.nyu.edu/mit/silberman/nyu_depth_v2/nyu_depth_v2_labeled.mat",
            "a3a66613390119e6d46827a7aaa3c132",
            archive=False,
        ),
    )
    counts: ClassVar[dict[str, int]] = {"train": TRAIN, "val": 0, "test": SAMPLES - TRAIN}
    params: NyuParams

    def __init__(self, params: NyuParams, split: str, seed: int) -> None:
        super().__init__(params, split, seed)
        self._path = need(params.root / self.sources[0].filename, self.info.name)
        last_train = TRAIN - params.val
        self._range = {
            "train": range(last_train),
            "val": range(last_train, TRAIN),
            "test": range(TRAIN, SAMPLES),
        }[split]
        self._file: Any = None
        with self._open() as file:
            images, depths = len(file["images"]), len(file["depths"])
        if images != SAMPLES or depths != SAMPLES:
            raise UserError(
                f"{self._path} holds {images} images and {depths} depth maps, "
                f"expected {SAMPLES} of each; {open_hint(self.info.name)}"
            )

    def __len__(self) -> int:
        return len(self._range)

    def __getitem__(self, index: int) -> Sample:
        self.need_index(index)
        if self._file is None:  # opened where it is read: HDF5 handles do not survive a fork
            self._file = self._open()
        number = self._range[index]
        # MATLAB's order of axes: (N, 3, W, H) and (N, W, H). One sample is read, not the file.
        image = np.ascontiguousarray(self._file["images"][number].transpose(0, 2, 1))
        depth = np.ascontiguousarray(self._file["depths"][number].T, dtype=np.float32)
        depth, valid = clear_unknown(depth, known_depth(depth))
        return Sample(name=f"{number:04d}", image=image, depth=depth, valid=valid)

    def _open(self) -> Any:
        import h5py

        try:
            file = h5py.File(self._path, "r")
        except OSError as error:
            raise UserError(
                f"{self._path} is not the .mat file of NYU Depth V2: {error}; "
                f"{open_hint(self.info.name)}"
            ) from error
        missing = [name for name in ("images", "depths") if name not in file]
        if missing:
            file.close()
            raise UserError(f"{self._path} has no array {' and no '.join(missing)}")
        return file

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_file": None}
