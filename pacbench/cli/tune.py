"""`pacbench tune`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from pacbench.cli.run import INTERRUPTED, Quiet, Set, Threads

TUNING = Path("results/tuning")


def add_to(app: typer.Typer) -> None:
    app.command(epilog="Example: pacbench tune suites/crf.yaml --method full_crf")(tune)


def tune(
    suite: Annotated[str, typer.Argument(help="A suite with `tuning:`.")],
    method: Annotated[str, typer.Option(metavar="GLOB", help="Name or label of the method.")],
    set_: Set = None,
    threads: Threads = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for what was tried.")] = TUNING,
    quiet: Quiet = False,
) -> None:
    """Search for a method's parameters, coarse to fine; a search that was stopped goes on.

    Prints the best ones as `params:` for the suite.
    """
    from pacbench import session
    from pacbench.train.job import slug
    from pacbench.tune.job import run_tuning, spec_for

    planned = session.plan(suite, overrides=set_ or [], only={"method": method}, threads=threads)
    for cell in planned.cells:
        spec = spec_for(planned.source.suite, cell)
        path = out / planned.source.suite.name / f"{slug(cell)}.jsonl"
        with tqdm(desc=str(cell), unit="point", disable=quiet or None) as bar:

            def show(point: dict[str, float], score: float, bar: tqdm = bar) -> None:  # type: ignore[type-arg]
                bar.set_postfix_str(f"{score:.4f} at {point}")
                bar.update()

            try:
                found = run_tuning(cell, spec, path, show)
            except KeyboardInterrupt:
                typer.echo("\nstopped; the same command goes on from here", err=True)
                raise typer.Exit(INTERRUPTED) from None
        typer.echo(f"{cell}: {found.score:.4f}, best of {found.evaluated} points ({path})")
        typer.echo(f"    params: {json.dumps(found.params)}")
