"""`pacbench claims`: which of the paper's claims hold in what was measured."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import typer

from pacbench.cli.results import Mix, Out, Runs, read_suites
from pacbench.cli.run import RUNS
from pacbench.errors import UserError

Format = Annotated[str, typer.Option("--format", metavar="md|latex|csv|json")]
Only = Annotated[
    list[str] | None, typer.Option(metavar="GLOB", help="Only claims whose id matches.")
]
File = Annotated[
    Path | None, typer.Option("--claims", metavar="FILE", help="Claims of your own, as YAML.")
]


def add_to(app: typer.Typer) -> None:
    app.command(epilog="Example: pacbench claims results --only 'crf-*'")(claims)


def claims(
    runs: Runs,
    format_: Format = "md",
    only: Only = None,
    file: File = None,
    mix_environments: Mix = False,
    out: Out = RUNS,
) -> None:
    """Test the paper's claims on runs, with the statistics that each needs.

    Exit code 0 if all hold, 1 if one does not, 3 if none fails but one is not decided, 2 for a
    mistake in the options.
    """
    from pacbench.claims.decide import decide
    from pacbench.claims.model import load_claims
    from pacbench.claims.programs import as_csv, as_json
    from pacbench.claims.report import claims_table, exit_code
    from pacbench.report.formats import RENDERERS

    if format_ not in RENDERERS:
        raise UserError(f"--format {format_}: allowed: {', '.join(RENDERERS)}")
    known = load_claims(file)
    chosen = [c for c in known if any(fnmatchcase(c.id, glob) for glob in only or ["*"])]
    if not chosen:
        ids = ", ".join(claim.id for claim in known)
        raise UserError(f"--only {' '.join(only or [])}: no claim is called so; there are {ids}")
    results = read_suites(runs, out, mix_environments)
    decisions = [decide(claim, results) for claim in chosen]
    if for_programs := {"csv": as_csv, "json": as_json}.get(format_):
        text = for_programs(decisions)
    else:
        text = RENDERERS[format_][1](claims_table(decisions))
    typer.echo(text, nl=False)
    raise typer.Exit(exit_code(decisions))
