"""What legends call records."""

from __future__ import annotations

from collections.abc import Sequence

from pacbench.record import Record
from pacbench.report.conditions import is_untrained
from pacbench.report.naming import axis_text, name_of


def legend_names(records: Sequence[Record], axes: Sequence[str] = ()) -> dict[str, str]:
    """By id: the label with those of ``axes``, and whether its method learns and was not trained.

    Records of one name, as those of a method at several factors, have one entry in a legend, which
    tells which of them are untrained.
    """
    named: dict[str, list[Record]] = {}
    for record in records:
        named.setdefault(name_of(record, list(axes)), []).append(record)
    return {record.id: f"{name}{mark(alike)}" for name, alike in named.items() for record in alike}


def mark(alike: Sequence[Record]) -> str:
    """What the entry of these records must tell besides their name; empty if they are trained."""
    untrained = [record for record in alike if is_untrained(record)]
    if not untrained:
        return ""
    if len(untrained) == len(alike):
        return " (untrained)"
    if not all("factor" in record.cell.axes for record in untrained):
        return " (partly untrained)"
    factors = dict.fromkeys(axis_text(record.cell.axes["factor"]) for record in untrained)
    return f" (untrained at {', '.join(f'{factor}×' for factor in factors)})"
