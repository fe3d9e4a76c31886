"""The figures that the paper prints, which stand beside measured ones labelled as the paper's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from pacbench.errors import UserError, did_you_mean, listing
from pacbench.suite.cells import Cell

CONDITIONS = {
    "tab_upsample_depth": "NYU Depth V2, nearest-neighbour downsampled; it states no unit",
    "tab_upsample_flow": "Sintel clean, bilinearly downsampled; it states no unit",
    "tab_upsample_arch": "parameters of the depth networks",
    "tab_crf": "Pascal VOC val / test with FCN-8s unaries, on its authors' hardware",
    "tab_crf_mfsteps": "Pascal VOC val with FCN-8s unaries, on its authors' hardware",
    "dilation_ablation": "Pascal VOC val / test with FCN-8s unaries",
    "tab_hotswap": "Pascal VOC val / test, on its authors' hardware",
}
"""What the paper measured each of its tables on."""


@dataclass(frozen=True)
class PaperFigures:
    """What the paper prints of one cell.

    Attributes:
        score: as printed, of the validation set where it has a test set too; ``+`` where it is a
            gain.
        value: the score as a number.
        runtime_ms, parameters_k: in the units of the paper.
        test_score, test_value: the same of the test set, where it is apart.
    """

    score: str | None = None
    value: float | None = None
    runtime_ms: float | None = None
    parameters_k: float | None = None
    test_score: str | None = None
    test_value: float | None = None


@cache
def paper_tables() -> dict[str, Any]:
    """All tables of the paper by name."""
    text = files("pacbench.report").joinpath("paper_tables.yaml").read_text(encoding="utf-8")
    tables: dict[str, Any] = yaml.safe_load(text)
    return tables


@cache
def paper_rows(table: str | None) -> dict[tuple[str, int | None], PaperFigures]:
    """One table of the paper by its row and factor or mean-field steps; empty for no table."""
    if table is None:
        return {}
    tables = paper_tables()
    if table not in tables:
        raise UserError(
            f"the paper has no table '{table}'{did_you_mean(table, tables)}; "
            f"it has {listing(tables)}"
        )
    content = tables[table]
    if "steps" in content:
        return _by_steps(content)
    if "factors" in content:
        return _by_factor(content)
    return {(row, None): _segmentation(figures) for row, figures in content["rows"].items()}


def paper_figures(table: str | None, cell: Cell) -> PaperFigures | None:
    """The paper's figures for what a cell measures; None if it has none."""
    rows, facts = paper_rows(table), cell.facts()
    for place in (facts.get("factor"), facts.get("steps"), None):
        if found := rows.get((cell.paper_row or "", place)):
            return found
    return None


def _by_steps(content: dict[str, Any]) -> dict[tuple[str, int | None], PaperFigures]:
    """The ablation of mean-field steps, which the paper prints for PAC-CRF 16-64 only."""
    columns = zip(content["steps"], content["miou_val"], content["time_ms"], strict=True)
    return {
        ("pac_crf_16_64", steps): PaperFigures(f"{miou:.2f}", miou, time)
        for steps, miou, time in columns
    }


def _by_factor(content: dict[str, Any]) -> dict[tuple[str, int | None], PaperFigures]:
    figures = {}
    for row, values in content.get("rows", {}).items():
        digits = 3 if content["metric"] == "epe" else 2
        for factor, value in zip(content["factors"], values, strict=True):
            figures[row, factor] = PaperFigures(f"{value:.{digits}f}", value)
    for row, values in content.get("params_k", {}).items():
        for factor, value in zip(content["factors"], values, strict=True):
            figures[row, factor] = PaperFigures(parameters_k=value)
    return figures


def _segmentation(row: dict[str, Any]) -> PaperFigures:
    kind, style = ("miou", ".2f") if "miou_val" in row else ("gain", "+.2f")
    value, test = row[f"{kind}_val"], row[f"{kind}_test"]
    return PaperFigures(
        f"{value:{style}}", value, row.get("runtime_ms"), None, f"{test:{style}}", test
    )
