"""`pacbench report`: everything about some runs in one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pacbench.cli.results import Mix, Out, Runs, read_suites
from pacbench.cli.run import RUNS
from pacbench.errors import UserError

Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write.")]
Title = Annotated[str, typer.Option(help="What the page is called.")]


def add_to(app: typer.Typer) -> None:
    app.command(epilog="Example: pacbench report results/crf results/hotswap -o report.html")(
        report
    )


def report(
    runs: Runs,
    output: Output = Path("report.html"),
    title: Title = "pacbench report",
    mix_environments: Mix = False,
    out: Out = RUNS,
) -> None:
    """Write one self-contained HTML file: tables, figures, pictures, claims, commands."""
    from pacbench.claims.decide import decide
    from pacbench.claims.model import load_claims
    from pacbench.report.html import report_page

    results = read_suites(runs, out, mix_environments)
    decisions = [decide(claim, results) for claim in load_claims()]
    text = report_page(results, decisions, title)
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{output}: cannot be written: {error.strerror}") from None
    typer.echo(f"{output} ({len(text.encode()) / 1e6:.1f} MB)")
