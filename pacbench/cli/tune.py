"""`pacbench tune`."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from tqdm import tqdm

from pacbench.cli.run import INTERRUPTED, Quiet, Set, Threads

if TYPE_CHECKING:
    from pacbench.suite.cells import Cell
    from pacbench.suite.schema import Suite

TUNING = Path("results/tuning")


EXAMPLES = """Examples: pacbench tune suites/crf.yaml --method full_crf

pacbench tune suites/upsample_depth.yaml --method jbu --factor 8"""


def add_to(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLES)(tune)


def tune(
    suite: Annotated[str, typer.Argument(help="A suite with `tuning:`.")],
    method: Annotated[
        str, typer.Option(metavar="GLOB", help="Name or label; default: all that have a grid.")
    ] = "*",
    factor: Annotated[
        int | None, typer.Option(metavar="N", help="Upsampling factor; default: all.")
    ] = None,
    set_: Set = None,
    threads: Threads = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for what was tried.")] = TUNING,
    quiet: Quiet = False,
) -> None:
    """Search for a method's parameters, coarse to fine; a search that was stopped goes on.

    Prints the best ones as `params:` or `params_at:` for the suite.
    """
    from pacbench import session
    from pacbench.tune.job import tunable
    from pacbench.tune.params import as_yaml

    only = {"method": method} | ({} if factor is None else {"factor": str(factor)})
    planned = session.plan(suite, overrides=set_ or [], only=only, threads=threads)
    source = planned.source.suite
    for label, cells in tunable(source, planned.cells).items():
        found = [(cell, _tune(source, cell, out, quiet)) for cell in cells]
        typer.echo(textwrap.indent(f"# {label}\n{as_yaml(found)}", "    "))


def _tune(suite: Suite, cell: Cell, out: Path, quiet: bool) -> dict[str, float]:
    """The best parameters of one cell."""
    from pacbench.report.goals import Goal
    from pacbench.train.job import slug
    from pacbench.tune.job import run_tuning, spec_for

    goal = Goal.of(cell)
    path = out / suite.name / f"{slug(cell)}.jsonl"
    with tqdm(desc=str(cell), unit="point", disable=quiet or None) as bar:

        def show(point: dict[str, float], score: float) -> None:
            bar.set_postfix_str(f"{goal.text(score)} at {point}")
            bar.update()

        try:
            found = run_tuning(cell, spec_for(suite, cell), path, show)
        except KeyboardInterrupt:
            typer.echo("\nstopped; the same command goes on from here", err=True)
            raise typer.Exit(INTERRUPTED) from None
    typer.echo(f"{cell}: {goal.text(found.score)}, best of {found.evaluated} points ({path})")
    return found.params
