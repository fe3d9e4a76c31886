"""`pacbench table` and `pacbench plot`: what is made of runs that are there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pacbench.cli.run import RUNS
from pacbench.errors import UserError

if TYPE_CHECKING:
    from pacbench.report.run import Results

Run = Annotated[str, typer.Argument(help="A run folder, its name, or latest.")]
Runs = Annotated[
    list[str], typer.Argument(help="Run folders, their names, or latest; or a folder of runs.")
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder that run folders are made in.")]
Mix = Annotated[
    bool,
    typer.Option("--mix-environments", help="Show runs of different environments together."),
]


def add_to(app: typer.Typer) -> None:
    app.command(epilog="Example: pacbench table latest --format latex > crf.tex")(table)
    app.command(epilog="Example: pacbench plot latest --format png --format pdf")(plot)


def table(
    runs: Runs,
    format_: Annotated[str, typer.Option("--format", metavar="md|latex|csv|json")] = "md",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Write it there, in every format."),
    ] = None,
    mix_environments: Mix = False,
    out: Out = RUNS,
) -> None:
    """Print the table of a run, or one of several runs of a task; or write it in every format."""
    from pacbench.report.formats import RENDERERS
    from pacbench.report.write import rendered, write_tables

    if format_ not in RENDERERS:
        raise UserError(f"--format {format_}: allowed: {', '.join(RENDERERS)}")
    results = read_as_one(runs, out, mix_environments)
    if output is None:
        typer.echo(rendered(results, format_), nl=False)
        return
    try:
        for path in write_tables(results, list(RENDERERS), output):
            typer.echo(path)
    except OSError as error:
        raise UserError(f"{output}: cannot be written: {error.strerror}") from None


def plot(
    runs: Runs,
    format_: Annotated[list[str] | None, typer.Option("--format", metavar="png|pdf|svg")] = None,
    mix_environments: Mix = False,
    out: Out = RUNS,
) -> None:
    """Draw the figures of a run into its folder; of several runs, into that of the first."""
    from pacbench.report.write import write_figures

    formats = format_ or ["png"]
    for name in formats:
        if name not in ("png", "pdf", "svg"):
            raise UserError(f"--format {name}: allowed: png, pdf, svg")
    results = read_as_one(runs, out, mix_environments)
    for path in write_figures(results, formats):
        typer.echo(path)


def read_as_one(names: Sequence[str], out: Path, mix_environments: bool) -> Results:
    """The runs so named, merged; what is doubtful about them is said."""
    from pacbench.report.run import merge

    results = merge(_read_all(names, out), mix_environments)
    _warn(results.warnings)
    return results


def read_suites(names: Sequence[str], out: Path, mix_environments: bool) -> list[Results]:
    """The runs so named, those of a suite merged; what is doubtful about them is said."""
    from pacbench.report.run import by_suite, several_machines

    suites = by_suite(_read_all(names, out), mix_environments)
    _warn([warning for suite in suites for warning in suite.warnings] + several_machines(suites))
    return suites


def read_run(run: str, out: Path) -> Results:
    """One run; what is doubtful about it is said."""
    results = _read(run, out)
    _warn(results.warnings)
    return results


def _read_all(names: Sequence[str], out: Path) -> list[Results]:
    """A folder that is no run stands for those directly in it."""
    return [_read(run, out) for name in names for run in _runs_in(name) or [name]]


def _runs_in(name: str) -> list[str]:
    folder = Path(name)
    try:
        if (folder / "records.jsonl").is_file():
            return []
        return sorted(str(path.parent) for path in folder.glob("*/records.jsonl"))
    except OSError as error:
        raise UserError(f"{name}: cannot be read: {error.strerror}") from None


def _read(run: str, out: Path) -> Results:
    from pacbench.report.run import read
    from pacbench.store import RunFolder

    return read(RunFolder.find(run, out))


def _warn(warnings: Sequence[str]) -> None:
    for warning in warnings:
        typer.echo(f"warning: {warning}", err=True)
