"""`pacbench doctor`."""

from __future__ import annotations

import typer


def add_to(app: typer.Typer) -> None:
    app.command(epilog="Example: pacbench doctor")(doctor)


def doctor() -> None:
    """Say what works on this machine, what does not, and how to get it."""
    from pacbench.doctor import diagnose

    colours = {"ok": "green", "warn": "yellow", "missing": "red"}
    for check in diagnose():
        status = typer.style(check.status.rjust(7), fg=colours[check.status])
        typer.echo(f"{status}  {check.name}: {check.finding}")
        if check.advice:
            typer.echo(f"{'':9}→ {check.advice}")
