"""`pacbench weights`: those that come with the package, and those of the paper's release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pacbench.errors import UserError

IMPORTED = Path("results/weights")
EXAMPLES = """Examples: pacbench weights import paccrf.pth --dilations 16,64

pacbench weights import weights_epoch_5000.pth --name pac-nyu-8"""


def add_to(app: typer.Typer) -> None:
    commands = typer.Typer(no_args_is_help=True, help="Trained weights.")
    commands.command("list", epilog="Example: pacbench weights list")(list_)
    commands.command("import", epilog=EXAMPLES)(import_)
    app.add_typer(commands, name="weights")


def list_() -> None:
    """List the weights that come with pacbench: name, score in validation, sha256, command."""
    from pacbench.report.goals import Goal
    from pacbench.suite.cells import Cell
    from pacbench.train.checkpoint import read_about, score_of
    from pacbench.train.weights import packaged_weights, sha256_of

    for name, path in packaged_weights().items():
        about = read_about(path.parent)
        score = Goal.of(Cell.model_validate(about["cell"])).text(score_of(about))
        typer.echo(f"{name}  {score}  {sha256_of(path)[:12]}  {about['command']}")


def import_(
    file: Annotated[Path, typer.Argument(help="A weight file of the paper's release.")],
    name: Annotated[str | None, typer.Option(help="Default: that of the file.")] = None,
    dilations: Annotated[
        str | None, typer.Option(metavar="D,D…", help="Of a PAC-CRF; the file does not say.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write to.")] = IMPORTED,
) -> None:
    """Convert weights of the paper's release; prints what to put into a suite to use them.

    Dilations are the release's, 32 or 64 and 16, unless --dilations says others. What else a file
    does not say (depth or flow, the factor of a DJF) is told beneath its entry.
    """
    from pacbench.train.importing import import_file

    params = {} if dilations is None else {"dilations": _numbers(dilations)}
    for entry in import_file(file, out, name or file.stem, params):
        typer.echo(entry)


def _numbers(text: str) -> list[int]:
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise UserError(f"--dilations {text}: should be numbers, for example 16,64") from None
