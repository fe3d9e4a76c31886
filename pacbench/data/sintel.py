"""MPI Sintel: rendered film scenes with exact optical flow."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from pacbench.data.base import (
    Dataset,
    DatasetInfo,
    DatasetParams,
    Sample,
    Source,
    datasets,
)
from pacbench.data.formats import read_flow, read_image
from pacbench.data.root import UserPath, first_existing, open_hint
from pacbench.data.validity import clear_unknown, known_flow
from pacbench.errors import UserError

VAL_WHOLE = ("ambush_6", "market_6")
"""Sequences that the published split keeps for validation as a whole."""

VAL_TAIL = {"bamboo_2": 25, "cave_4": 25, "temple_2": 25}
"""Sequences of which the last pairs are kept for validation."""


class SintelParams(DatasetParams):
    """Parameters of MPI Sintel."""

    root: UserPath = Field(Path("data/sintel"), description="folder that holds 'training'")
    render: Literal["clean", "final"] = Field("clean", description="render pass of the image")


@datasets.register("sintel")
class Sintel(Dataset):
    """The first image of each pair and its flow, 436×1024, split into 908 and 133 pairs."""

    info: ClassVar[DatasetInfo] = DatasetInfo(
        name="sintel",
        version="2012",
        tasks=("upsample",),
        splits=("train", "val"),
        licence=(
            "Butler, Wulff, Stanley & Black, 'A Naturalistic Open Source Movie for Optical Flow "
            "Evaluation', ECCV 2012; film images CC BY 3.0, Blender Foundation, durian.blender.org"
        ),
        summary="1041 pairs of film frames with optical flow, 436×1024",
    )
    Params: ClassVar[type[DatasetParams]] = SintelParams
    sources: ClassVar[tuple[Source, ...]] = (
        Source(
            "http://files.is.tue.mpg.de/sintel/MPI-Sintel-complete.zip",
            "2d2836c2c6b4fb6c9d2d2d58189eb014",
            archive=True,
        ),
    )
    counts: ClassVar[dict[str, int]] = {"train": 908, "val": 133}
    params: SintelParams

    def __init__(self, params: SintelParams, split: str, seed: int) -> None:
        super().__init__(params, split, seed)
        nests = (".", "MPI-Sintel-complete", "MPI-Sintel")
        self._training = first_existing(params.root, nests, "training/flow", "sintel") / "training"
        self._flows = [
            flow
            for sequence in sorted(path for path in (self._training / "flow").iterdir())
            for flow in _of_split(sequence, split)
        ]
        if not self._flows:
            raise UserError(
                f"{self._training / 'flow'} holds no pair of split '{split}'; {open_hint('sintel')}"
            )

    def __len__(self) -> int:
        return len(self._flows)

    def __getitem__(self, index: int) -> Sample:
        self.need_index(index)
        path = self._flows[index]
        sequence = path.parent.name
        image = read_image(self._training / self.params.render / sequence / f"{path.stem}.png")
        flow, _ = read_flow(path)
        flow, valid = clear_unknown(flow, known_flow(flow))
        return Sample(name=f"{sequence}-{path.stem}", image=image, flow=flow, valid=valid)


def _of_split(sequence: Path, split: str) -> list[Path]:
    """The flows of a sequence, one for each frame but the last, that belong to the split."""
    flows = sorted(sequence.glob("frame_*.flo"))
    if sequence.name in VAL_WHOLE:
        kept = len(flows)
    else:
        kept = min(VAL_TAIL.get(sequence.name, 0), len(flows))
    train = len(flows) - kept
    return flows[train:] if split == "val" else flows[:train]
