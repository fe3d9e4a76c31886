"""`pacbench compare` and `pacbench history`: ratios with intervals, results over commits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pacbench.cli.results import Out, read_run
from pacbench.cli.run import RUNS
from pacbench.errors import UserError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pacbench.report.table import Table

Runs = Annotated[list[str], typer.Argument(help="Run folders, their names, or latest.")]
Format = Annotated[str, typer.Option("--format", metavar="md|latex|csv")]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it: png, pdf or svg.")]
History = Annotated[
    list[Path] | None,
    typer.Argument(
        help="Run folders or their records.jsonl, or folders of runs; results/ if not given."
    ),
]


def add_to(app: typer.Typer) -> None:
    app.command(epilog="Example: pacbench compare latest --plot forest.png")(compare)
    app.command(epilog="Example: pacbench history results --plot history.png")(history)


def compare(runs: Runs, format_: Format = "md", plot: Plot = None, out: Out = RUNS) -> None:
    """Print runtime ratios with intervals: within one run, or of runs against the first."""
    from pacbench.report import compare as report

    results = [read_run(run, out) for run in runs]
    cpus = {result.environment.cpu for result in results}
    if len(cpus) > 1:
        said = "times of different CPUs say nothing of the code"
        typer.echo(f"warning: {said}: {', '.join(sorted(cpus))}", err=True)
    comparisons = report.compare(results)
    _show(report.comparison_table(comparisons), format_)
    if plot is not None:
        _draw(report.forest(comparisons), plot)


def history(paths: History = None, format_: Format = "md", plot: Plot = None) -> None:
    """Print results over commits, and where a time has stepped up or down."""
    from pacbench.report import history as report

    roots = paths or [Path("results")]
    found = [
        records
        for root in roots
        for records in ([root] if root.name == "records.jsonl" else root.rglob("records.jsonl"))
    ]
    folders = sorted({records.parent for records in found if records.is_file()})
    if not folders:
        looked = ", ".join(map(str, roots))
        raise UserError(f"{looked}: no run in it; start one with `pacbench run crf`")
    series = report.history([read_run(str(folder), RUNS) for folder in folders])
    if not series:
        raise UserError("none of the runs has a timed cell")
    _show(report.history_table(series), format_)
    if plot is not None:
        _draw(report.history_figure(series), plot)


def _show(table: Table, format_: str) -> None:
    from pacbench.report.formats import RENDERERS

    if format_ not in RENDERERS:
        raise UserError(f"--format {format_}: allowed: {', '.join(RENDERERS)}")
    _, render = RENDERERS[format_]
    typer.echo(render(table), nl=False)


def _draw(figure: Figure, path: Path) -> None:
    if path.suffix not in (".png", ".pdf", ".svg"):
        raise UserError(f"--plot {path}: should end with .png, .pdf or .svg")
    try:
        figure.savefig(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None
    typer.echo(path)
