"""Scores that need more than one record."""

from __future__ import annotations

from pacbench.record import Record


def unary_miou(record: Record, records: list[Record]) -> float | None:
    """The mIoU, in percent, of the unaries alone on the data of ``record``; None if not there."""
    for other in records:
        same_data = (other.cell.data, other.cell.seed) == (record.cell.data, record.cell.seed)
        if other.ok and other.cell.method == "unary" and same_data:
            return 100 * other.metrics["miou"]
    return None


def gain_over_unaries(record: Record, records: list[Record]) -> float | None:
    """What a CRF adds to the mIoU of its unaries, in percentage points."""
    base = unary_miou(record, records)
    if base is None or not record.ok or record.cell.method == "unary":
        return None
    return 100 * record.metrics["miou"] - base
