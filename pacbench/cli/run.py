"""`pacbench run`: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pacbench.errors import UserError

if TYPE_CHECKING:
    from pacbench.session import Plan
    from pacbench.store import RunFolder
    from pacbench.suite.schema import DeviceChoice

RUNS = Path("results/runs")
INTERRUPTED = 130

Suite = Annotated[
    str | None, typer.Argument(help="A suite file, or the name of one that comes with pacbench.")
]
Resume = Annotated[
    str | None, typer.Option(metavar="RUN", help="Finish an interrupted run (a folder, or latest).")
]
Filter = Annotated[
    list[str] | None,
    typer.Option("--filter", metavar="KEY=GLOB", help="Only cells that match; repeat to narrow."),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a key of the suite, dotted."),
]
Device = Annotated[str | None, typer.Option(metavar="cpu|cuda|auto", help="Where to run.")]
Threads = Annotated[int | None, typer.Option(min=1, help="CPU threads of a cell.")]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder that run folders are made in.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Check the suite and print its cells.")]
ListCells = Annotated[bool, typer.Option("--list-cells", help="Print cell ids and names only.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no table.")]


def add_to(app: typer.Typer) -> None:
    app.command(
        epilog="Example: pacbench run suites/crf.yaml --filter 'method=pac*' --set repeats=3"
    )(run)


def run(
    suite: Suite = None,
    resume: Resume = None,
    filter_: Filter = None,
    set_: Set = None,
    device: Device = None,
    threads: Threads = None,
    out: Out = RUNS,
    dry_run: DryRun = False,
    list_cells: ListCells = False,
    quiet: Quiet = False,
) -> None:
    """Run a suite: every method over its sweep, a table in the terminal, a run folder.

    Exit code 0 if every cell ran, 1 if one failed, 2 for a mistake in the suite or the options.
    """
    from pacbench import session
    from pacbench.store import RunFolder

    if (suite is None) == (resume is None):
        raise UserError("name a suite to run, or an interrupted run with --resume RUN; not both")
    if suite is None:
        if filter_ or set_ or device or threads or dry_run or list_cells:
            raise UserError("--resume goes on with what the run was started with; drop the rest")
        work = session.reopen(RunFolder.find(str(resume), out))
    else:
        planned = session.plan(
            suite,
            overrides=set_ or [],
            only=_pairs(filter_ or []),
            device=chosen_device(device),
            threads=threads,
        )
        if dry_run or list_cells:
            _print_cells(planned, detailed=dry_run)
            return
        work = session.create(planned, out)
    try:
        work.run(quiet)
    except KeyboardInterrupt:
        typer.echo(
            f"\ninterrupted; every finished cell is kept. Go on with:\n"
            f"  pacbench run --resume {work.folder.path}",
            err=True,
        )
        raise typer.Exit(INTERRUPTED) from None
    raise typer.Exit(_report(work.folder, quiet))


def chosen_device(name: str | None) -> DeviceChoice | None:
    if name is None or name in ("cpu", "cuda", "auto"):
        return name  # type: ignore[return-value]
    raise UserError(f"--device {name}: allowed: cpu, cuda, auto")


def _pairs(filters: list[str]) -> dict[str, str]:
    pairs = {}
    for text in filters:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UserError(
                f"--filter {text}: should be KEY=GLOB, for example --filter method=pac*"
            )
        pairs[key] = value
    return pairs


def _print_cells(planned: Plan, detailed: bool) -> None:
    for cell in planned.cells:
        if not detailed:
            typer.echo(f"{cell.id}  {cell}")
            continue
        params = ", ".join(f"{key}={value}" for key, value in cell.params.items())
        typer.echo(f"{cell.id}  {cell}  {params}".rstrip())
    if detailed:
        runs = sum(cell.repeats for cell in planned.cells)
        typer.echo(
            f"{len(planned.cells)} cells, {runs} timed runs per sample, "
            f"{planned.info.threads} threads, device {planned.info.device}; nothing was run"
        )


def _report(folder: RunFolder, quiet: bool) -> int:
    """Write tables and figures, print the table; the exit code."""
    from pacbench.report.run import read
    from pacbench.report.write import rendered, write_figures, write_tables

    results = read(folder)
    for warning in results.warnings:
        typer.echo(f"warning: {warning}", err=True)
    write_tables(results, list(results.suite.outputs.tables))
    write_figures(results, list(results.suite.outputs.figures))
    failed = [record for record in results.records if not record.ok]
    if not quiet:
        typer.echo("\n" + rendered(results, "md"))
        typer.echo(f"run folder: {folder.path}")
    for record in failed:
        message = record.failure.message if record.failure else ""
        typer.echo(f"failed: {record.cell}: {record.status}: {message}", err=True)
    return 1 if failed else 0
