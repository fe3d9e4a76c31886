"""`pacbench list` and `pacbench schema`: what there is to name in a suite."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from pacbench.errors import UserError

Kind = Annotated[
    Literal["methods", "suites", "datasets"],
    typer.Argument(help="What to list.", show_default=False),
]


def add_to(app: typer.Typer) -> None:
    app.command("list", epilog="Example: pacbench list methods")(list_)
    app.command(epilog="Example: pacbench schema > suite.schema.json")(schema)


def list_(kind: Kind) -> None:
    """List the methods, suites or datasets that are here."""
    rows = {"methods": _methods, "suites": _suites, "datasets": _datasets}[kind]()
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (text.ljust(width) for text, width in zip(row, widths, strict=True))
        typer.echo("  ".join(cells).rstrip())


def schema() -> None:
    """Print the JSON schema of suite files, so that editors complete and check them."""
    from pacbench.suite.json_schema import suite_schema

    typer.echo(json.dumps(suite_schema(), indent=2))


def _methods() -> list[tuple[str, ...]]:
    from pacbench.method import methods

    rows: list[tuple[str, ...]] = [
        ("name", "task", "title", "year", "learnable", "devices", "backends", "paper")
    ]
    for name in methods:
        info = methods[name].info
        rows.append(
            (
                name,
                info.task,
                info.title,
                str(info.year),
                "yes" if info.learnable else "no",
                ",".join(info.devices),
                ",".join(info.backends),
                info.paper,
            )
        )
    return rows


def _datasets() -> list[tuple[str, ...]]:
    from pacbench.data.base import datasets

    rows: list[tuple[str, ...]] = [("name", "version", "tasks", "splits", "summary")]
    for name in datasets:
        info = datasets[name].info
        rows.append((name, info.version, ",".join(info.tasks), ",".join(info.splits), info.summary))
    return rows


def _suites() -> list[tuple[str, ...]]:
    from pacbench.suite import load_suite, packaged_suites

    here = sorted(Path("suites").glob("*.yaml"))
    found = {path.stem: path for path in [*packaged_suites(), *here]}
    rows: list[tuple[str, ...]] = [("name", "task", "methods", "title")]
    for name, path in sorted(found.items()):
        try:
            suite = load_suite(str(path)).suite
        except UserError as error:
            rows.append((name, "invalid", "", str(error).splitlines()[0]))
        else:
            rows.append((name, suite.task, str(len(suite.methods)), suite.title))
    return rows
