"""What rows and curves are called: the method's label, and the axes that tell cells apart."""

from __future__ import annotations

from typing import Any

from pacbench.record import Record

DATA_AXIS = "data."
SIZE_AXIS = "data.size"


def varying_axes(records: list[Record]) -> list[str]:
    """The swept axes that take more than one value in these records, in the suite's order."""
    return [axis for axis, values in _values(records).items() if len(values) > 1]


def constant_axes(records: list[Record]) -> dict[str, str]:
    """The swept axes with one value throughout, which stand in a note and not in a column."""
    return {axis: values[0] for axis, values in _values(records).items() if len(values) == 1}


def name_of(record: Record, axes: list[str]) -> str:
    """``PAC-CRF, 32 (steps 5)``, with those of ``axes`` that the cell has."""
    held = record.cell.axes
    swept = [f"{axis_title(axis)} {axis_text(held[axis], axis)}" for axis in axes if axis in held]
    return f"{record.cell.label} ({', '.join(swept)})" if swept else record.cell.label


def counted(number: int, what: str) -> str:
    """``1 image``, ``6 images``, ``2 processes``."""
    ending = "" if number == 1 else "es" if what.endswith("s") else "s"
    return f"{number} {what}{ending}"


def axis_title(axis: str) -> str:
    """What people call it: ``size`` for the data's parameter ``data.size``."""
    return axis.removeprefix(DATA_AXIS)


def axis_text(value: Any, axis: str = "") -> str:
    """A value of an axis as the paper writes it: dilations 16 and 64 are ``16-64``."""
    between = "×" if axis == SIZE_AXIS else "-"
    return between.join(map(str, value)) if isinstance(value, list) else str(value)


def _values(records: list[Record]) -> dict[str, list[str]]:
    values: dict[str, dict[str, None]] = {}
    for record in records:
        for axis, value in record.cell.axes.items():
            values.setdefault(axis, {})[axis_text(value)] = None
    return {axis: list(seen) for axis, seen in values.items()}
