"""`pacbench table` and `pacbench plot`: what is made of a run that is there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pacbench.cli.run import RUNS
from pacbench.errors import UserError

if TYPE_CHECKING:
    from pacbench.report.run import Results

Run = Annotated[str, typer.Argument(help="A run folder, its name, or latest.")]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder that run folders are made in.")]


def add_to(app: typer.Typer) -> None:
    app.command(epilog="Example: pacbench table latest --format latex > crf.tex")(table)
    app.command(epilog="Example: pacbench plot latest --format png --format pdf")(plot)


def table(
    run: Run,
    format_: Annotated[str, typer.Option("--format", metavar="md|latex|csv")] = "md",
    out: Out = RUNS,
) -> None:
    """Print the table of a run."""
    from pacbench.report.run import table_of
    from pacbench.report.table import RENDERERS

    if format_ not in RENDERERS:
        raise UserError(f"--format {format_}: allowed: {', '.join(RENDERERS)}")
    _, render = RENDERERS[format_]
    typer.echo(render(table_of(read_run(run, out))), nl=False)


def plot(
    run: Run,
    format_: Annotated[list[str] | None, typer.Option("--format", metavar="png|pdf|svg")] = None,
    out: Out = RUNS,
) -> None:
    """Draw the figures of a run into its folder."""
    from pacbench.report.run import write_figures

    formats = format_ or ["png"]
    for name in formats:
        if name not in ("png", "pdf", "svg"):
            raise UserError(f"--format {name}: allowed: png, pdf, svg")
    for path in write_figures(read_run(run, out), formats):
        typer.echo(path)


def read_run(run: str, out: Path) -> Results:
    from pacbench.report.run import read
    from pacbench.store import RunFolder

    results = read(RunFolder.find(run, out))
    for warning in results.warnings:
        typer.echo(f"warning: {warning}", err=True)
    return results
