"""The figures that the paper prints, which stand beside measured ones labelled as the paper's."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from pacbench.errors import UserError, did_you_mean, listing


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
    rows: dict[str, Any] = tables[table].get("rows", {})
    return rows
