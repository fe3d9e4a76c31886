"""The pictures that runs keep: per sample what went in, the truth, and what each method made."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pacbench.record import Record
from pacbench.report.naming import axis_text, name_of, varying_axes
from pacbench.report.run import Results


@dataclass(frozen=True)
class Output:
    """The output of a cell as a picture, and that of its error where the task has one."""

    name: str
    record: Record
    path: Path
    error: Path | None


@dataclass
class PictureRow:
    """One sample, as all methods that were given the same saw it.

    Attributes:
        title: the sample, and the factor where several were measured.
        inputs: what methods were given, by name: the image, and a low-resolution input.
        truth: None for data without.
    """

    title: str
    inputs: dict[str, Path]
    truth: Path | None
    outputs: list[Output] = field(default_factory=list)


def picture_rows(results: Results) -> list[PictureRow]:
    """A row per kept sample and factor; none for runs whose pictures were not kept."""
    rows: dict[tuple[str, str], PictureRow] = {}
    axes = [axis for axis in varying_axes(results.records) if axis != "factor"]
    several = "factor" in varying_axes(results.records)
    for record in results.records:
        factor = axis_text(record.cell.axes.get("factor", ""))
        for folder in results.folders:
            for path in sorted(folder.pictures.glob(f"*/{record.id}.png")):
                sample = path.parent
                title = f"{sample.name}, {factor}×" if several and factor else sample.name
                row = rows.setdefault((sample.name, factor), _row(title, sample, record))
                error = sample / f"{record.id}-error.png"
                name = name_of(record, axes)
                row.outputs.append(Output(name, record, path, error if error.is_file() else None))
    return list(rows.values())


def _row(title: str, sample: Path, record: Record) -> PictureRow:
    known = {"image": sample / "image.png"}
    for part in str(record.protocol).split("; "):
        known[f"input ({part})"] = sample / f"input,{part}.png"
    truth = sample / "truth.png"
    inputs = {name: path for name, path in known.items() if path.is_file()}
    return PictureRow(title, inputs, truth if truth.is_file() else None)
