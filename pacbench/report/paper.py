"""The figures that the paper prints, which stand beside measured ones labelled as the paper's."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from pacbench.errors import UserError, did_you_mean, listing
from pacbench.suite.cells import Cell


@cache
def paper_tables() -> dict[str, Any]:
    """All tables of the paper by name."""
    text = files("pacbench.report").joinpath("paper_tables.yaml").read_text(encoding="utf-8")
    tables: dict[str, Any] = yaml.safe_load(text)
    return tables


def paper_rows(table: str | None) -> dict[str, Any]:
    """The rows of one table of the paper by method; none if no table is named."""
    if table is None:
        return {}
    tables = paper_tables()
    if table not in tables:
        raise UserError(
            f"the paper has no table '{table}'{did_you_mean(table, tables)}; "
            f"it has {listing(tables)}"
        )
    content = tables[table]
    return dict(content["rows"]) if "rows" in content else _rows_by_steps(content)


def paper_row(table: str | None, cell: Cell) -> dict[str, Any] | None:
    """The paper's figures for what a cell measures; None if it has none."""
    rows = paper_rows(table)
    steps = cell.params.get("steps")
    return rows.get(cell.paper_row or "") or rows.get(f"{cell.paper_row}/{steps}")


def _rows_by_steps(content: dict[str, Any]) -> dict[str, Any]:
    """The ablation of mean-field steps, which the paper prints for PAC-CRF 16-64 only."""
    if "steps" not in content:
        return {}
    columns = zip(content["steps"], content["miou_val"], content["time_ms"], strict=True)
    return {
        f"pac_crf_16_64/{steps}": {"miou_val": miou, "runtime_ms": time}
        for steps, miou, time in columns
    }
