"""`pacbench export`: a run for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pacbench.cli.results import Out, Run, read_run
from pacbench.cli.run import RUNS
from pacbench.errors import UserError

Format = Annotated[
    str, typer.Option("--format", metavar="pytest-benchmark|asv|github-action-benchmark|csv")
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="PATH", help="A file; for asv, its results folder."),
]


def add_to(app: typer.Typer) -> None:
    app.command(
        epilog="Example: pacbench export latest --format pytest-benchmark -o benchmarks.json"
    )(export)


def export(run: Run, format_: Format, output: Output = None, out: Out = RUNS) -> None:
    """Write a run in the format of another tool; a single file goes to the terminal by default."""
    from pacbench.export import FORMATS

    if format_ not in FORMATS:
        raise UserError(f"--format {format_}: allowed: {', '.join(FORMATS)}")
    files = FORMATS[format_](read_run(run, out))
    if output is None:
        if "" not in files:
            raise UserError(f"--format {format_}: makes several files; name a folder: -o FOLDER")
        typer.echo(files[""], nl=False)
        return
    try:
        for name, text in files.items():
            path = output / name if name else output
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            typer.echo(path)
    except OSError as error:
        raise UserError(f"{output}: cannot be written: {error.strerror}") from None
