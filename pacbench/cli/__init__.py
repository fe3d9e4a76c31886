"""The command line. Commands parse and print; the work is done in the packages that they call."""

from __future__ import annotations

import sys

import typer

from pacbench.cli import (
    claims,
    compare,
    data,
    doctor,
    export,
    gate,
    listing,
    report,
    results,
    run,
    train,
    tune,
    weights,
)
from pacbench.errors import UserError

app = typer.Typer(
    name="pacbench",
    help="Compare pixel-adaptive convolution with the CRFs and upsampling methods around it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from pacbench.environment import package_version

        typer.echo(f"pacbench {package_version()}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Options of pacbench itself."""


run.add_to(app)
train.add_to(app)
tune.add_to(app)
weights.add_to(app)
results.add_to(app)
claims.add_to(app)
report.add_to(app)
gate.add_to(app)
compare.add_to(app)
export.add_to(app)
listing.add_to(app)
doctor.add_to(app)
app.add_typer(data.app, name="data")


def main() -> None:
    """Entry point: a user's mistake is a message and exit code 2, never a traceback."""
    try:
        app()
    except UserError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
