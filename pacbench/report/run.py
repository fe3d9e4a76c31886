"""A run, read back whole: what its tables and figures are made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pacbench.environment import Environment
from pacbench.errors import UserError
from pacbench.record import Record
from pacbench.report.crf import crf_table
from pacbench.report.figures import FIGURES
from pacbench.report.op import op_table
from pacbench.report.table import RENDERERS, Table
from pacbench.store import RunFolder
from pacbench.suite.load import load_suite
from pacbench.suite.schema import Suite

TABLES: dict[str, Callable[[Suite, list[Record], Environment], Table]] = {"crf": crf_table}


@dataclass(frozen=True)
class Results:
    """The suite of a run, its environment and its records in the order of the suite's cells."""

    folder: RunFolder
    suite: Suite
    environment: Environment
    records: list[Record]
    warnings: list[str]


def read(folder: RunFolder) -> Results:
    """Everything that a run holds; a run without any record is a ``UserError``."""
    suite = load_suite(str(folder.suite_path())).suite
    order = {cell: position for position, cell in enumerate(folder.info().cells)}
    records, warnings = folder.records()
    if not records:
        raise UserError(
            f"{folder.path}: has no finished cell yet; go on with "
            f"`pacbench run --resume {folder.path}`"
        )
    records.sort(key=lambda record: order.get(record.id, len(order)))
    return Results(folder, suite, folder.environment(), records, warnings)


def table_of(results: Results) -> Table:
    """The table of a run, in the shape that its task has."""
    task = results.suite.task
    if task == "op":
        peaks = results.folder.peaks()
        return op_table(results.suite, results.records, results.environment, peaks)
    if task not in TABLES:
        raise UserError(f"{results.folder.path}: there is no table for task '{task}' yet")
    return TABLES[task](results.suite, results.records, results.environment)


def write_tables(results: Results, formats: list[str]) -> list[Path]:
    """Write the table to ``tables/`` of the run, a file per format."""
    folder = results.folder.path / "tables"
    folder.mkdir(exist_ok=True)
    table = table_of(results)
    paths = []
    for name in formats:
        suffix, render = RENDERERS[name]
        path = folder / f"{table.name}{suffix}"
        path.write_text(render(table), encoding="utf-8")
        paths.append(path)
    return paths


def write_figures(results: Results, formats: list[str]) -> list[Path]:
    """Draw every figure that the task has to ``figures/`` of the run."""
    folder = results.folder.path / "figures"
    folder.mkdir(exist_ok=True)
    paths = []
    for name, draw in FIGURES.get(results.suite.task, {}).items():
        figure = draw(results.suite, results.records, results.folder.pictures)
        if figure is None:
            continue
        for extension in formats:
            path = folder / f"{results.suite.name}-{name}.{extension}"
            figure.savefig(path)
            paths.append(path)
    return paths
