"""`pacbench train`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from pacbench.cli.run import INTERRUPTED, Device, Quiet, Set, Threads, chosen_device

TRAINING = Path("results/training")


EXAMPLES = """Examples: pacbench train suites/crf.yaml --method 'PAC-CRF, 32'

pacbench train suites/upsample_depth.yaml --method pac --factor 8"""


def add_to(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLES)(train)


def train(
    suite: Annotated[str, typer.Argument(help="A suite with `training:`.")],
    method: Annotated[str, typer.Option(metavar="GLOB", help="Name or label; default: all.")] = "*",
    factor: Annotated[
        int | None, typer.Option(metavar="N", help="Upsampling factor; default: all.")
    ] = None,
    set_: Set = None,
    device: Device = None,
    threads: Threads = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the weights.")] = TRAINING,
    quiet: Quiet = False,
) -> None:
    """Train the learnable methods of a suite; a training that was stopped goes on.

    Leaves weights.pt (of the best validation, or of the last), log.csv and training.json in a
    folder per method.
    """
    from pacbench import session
    from pacbench.report.goals import Goal
    from pacbench.train.job import learnable, run_training

    only = {"method": method} | ({} if factor is None else {"factor": str(factor)})
    planned = session.plan(
        suite,
        overrides=set_ or [],
        only=only,
        device=chosen_device(device),
        threads=threads,
    )
    cells = learnable(planned.source.suite, planned.cells)
    spec = planned.source.suite.training
    assert spec is not None  # noqa: S101, learnable has seen to it
    command = planned.info.command.replace("pacbench run", "pacbench train", 1)
    command += "".join(f" --{key} {shlex.quote(value)}" for key, value in only.items())
    for cell in cells:
        if not quiet:
            typer.echo(f"training {cell}", err=True)
        try:
            folder, best = run_training(cell, spec, out / planned.source.suite.name, command, quiet)
        except KeyboardInterrupt:
            typer.echo("\nstopped; the same command goes on from the last checkpoint", err=True)
            raise typer.Exit(INTERRUPTED) from None
        keep = spec.for_method(cell.method, cell.label).keep
        typer.echo(f"{cell}: {keep} validation {Goal.of(cell).text(best)}, in {folder}")
