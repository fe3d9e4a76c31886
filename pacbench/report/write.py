"""Tables and figures of a run as files in its folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pacbench.report.build import data_of, table_of
from pacbench.report.formats import FOR_PROGRAMS, RENDERERS
from pacbench.report.plots import figures_of
from pacbench.report.plots.style import save
from pacbench.report.run import Results


def rendered(results: Results, format_: str) -> str:
    """The table of a run in one of the formats."""
    table = data_of(results) if format_ in FOR_PROGRAMS else table_of(results)
    return RENDERERS[format_][1](table)


def write_tables(
    results: Results, formats: Sequence[str], folder: Path | None = None
) -> list[Path]:
    """Write the table to a folder, ``tables/`` of the run by default, a file per format."""
    folder = folder or results.folder.path / "tables"
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in formats:
        path = folder / f"{results.suite.name}{RENDERERS[name][0]}"
        path.write_text(rendered(results, name), encoding="utf-8")
        paths.append(path)
    return paths


def write_figures(results: Results, formats: Sequence[str]) -> list[Path]:
    """Draw every figure that the records give to ``figures/`` of the run."""
    folder = results.folder.path / "figures"
    folder.mkdir(exist_ok=True)
    paths = []
    for name, figure in figures_of(results):
        for extension in formats:
            path = folder / f"{results.suite.name}-{name}.{extension}"
            save(figure, path, extension)
            paths.append(path)
    return paths
