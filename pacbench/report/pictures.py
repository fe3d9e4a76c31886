"""The pictures that runs keep: per sample what went in, the truth, and what each method made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from pacbench.data.show import Map, MapColours, Picture, map_colours
from pacbench.record import Record
from pacbench.report.conditions import is_untrained
from pacbench.report.naming import axis_text, name_of, varying_axes
from pacbench.report.run import Results

BRIGHTEST = 95
"""Percentile of the errors of the worst method at which error maps are brightest."""


@dataclass(frozen=True)
class Output:
    """The output of a cell and its name: ``PAC (untrained)`` if it was given no weights."""

    name: str
    record: Record
    path: Path


@dataclass
class PictureRow:
    """One sample, as all methods that were given the same saw it.

    Files are pictures (``.png``), or maps in their own unit (``.npy``).

    Attributes:
        factor: of upsampling, else empty.
        inputs: what methods were given, by name: the image, and a low-resolution input.
        truth: None for data without.
    """

    sample: str
    factor: str
    inputs: dict[str, Path]
    truth: Path | None
    outputs: list[Output] = field(default_factory=list)

    @property
    def title(self) -> str:
        """The sample, and the factor of upsampling."""
        return f"{self.sample}, {self.factor}×" if self.factor else self.sample

    @property
    def of_maps(self) -> bool:
        return self.truth is not None and self.truth.suffix == ".npy"

    def in_colours(self) -> dict[str, Picture]:
        """All of it by name: inputs, truth, outputs; of maps in one range, with their errors."""
        paths = dict(self.inputs)
        if self.truth is not None:
            paths["truth"] = self.truth
        paths |= {output.name: output.path for output in self.outputs}
        held = {name: load(path) for name, path in paths.items()}
        if not self.of_maps:
            return held
        truth = held["truth"]
        colours = MapColours.of(truth)
        shown = {name: colours(each) if _is_map(each) else each for name, each in held.items()}
        errors = {o.name: error_of(held[o.name], truth) for o in self.outputs}
        brightest = brightest_of(list(errors.values()))
        for name, error in errors.items():
            shown[f"{name}: error"] = error_colours(error, brightest)
        return shown


def picture_rows(results: Results) -> list[PictureRow]:
    """A row per kept sample and factor; none for runs whose pictures were not kept."""
    rows: dict[tuple[str, str], PictureRow] = {}
    axes = [axis for axis in varying_axes(results.records) if axis != "factor"]
    for record in results.records:
        factor = axis_text(record.cell.facts().get("factor", ""))
        name = name_of(record, axes) + (" (untrained)" if is_untrained(record) else "")
        for folder in results.folders:
            for path in sorted(folder.pictures.glob(f"*/{record.id}.*")):
                sample = path.parent
                row = rows.setdefault((sample.name, factor), _row(sample, factor, record))
                row.outputs.append(Output(name, record, path))
    return list(rows.values())


def load(path: Path) -> NDArray[Any]:
    """A picture (H, W, 3), or a map (C, H, W)."""
    if path.suffix == ".npy":
        return np.asarray(np.load(path))
    with Image.open(path) as opened:
        return np.asarray(opened.convert("RGB"))


def error_of(output: Map, truth: Map) -> NDArray[np.float32]:
    """(H, W) how far off a map is, in its unit; NaN where the truth is not known."""
    return np.asarray(np.sqrt(((output - truth) ** 2).sum(axis=0)))


def brightest_of(errors: Sequence[NDArray[np.float32]]) -> float:
    """The error from which on maps of them are brightest: little of any of them is beyond it."""
    known = [error[np.isfinite(error)] for error in errors]
    return max((float(np.percentile(each, BRIGHTEST)) for each in known if each.size), default=0.0)


def error_colours(error: NDArray[np.float32], brightest: float) -> Picture:
    """Black where there is none, or none is known."""
    return map_colours(error, 0, brightest, "magma")


def _is_map(held: NDArray[Any]) -> bool:
    return held.dtype != np.uint8


def _row(sample: Path, factor: str, record: Record) -> PictureRow:
    known = {"image": sample / "image"}
    for part in str(record.protocol).split("; "):
        known[f"input ({part})"] = sample / f"input,{part}"
    inputs = {name: path for name, stem in known.items() if (path := _file(stem))}
    return PictureRow(sample.name, factor, inputs, _file(sample / "truth"))


def _file(stem: Path) -> Path | None:
    """The picture or map of that name; suffixes are added, for names have dots."""
    paths = (stem.parent / f"{stem.name}{suffix}" for suffix in (".npy", ".png"))
    return next((path for path in paths if path.is_file()), None)
