"""What the page shows, put together for its template."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Environment as Templates
from jinja2 import StrictUndefined
from markupsafe import Markup

from pacbench.claims.decide import Decision
from pacbench.claims.report import claims_table
from pacbench.environment import package_version
from pacbench.record import Record
from pacbench.report.build import table_of
from pacbench.report.html import machines, summary
from pacbench.report.html.figures import compared, figures
from pacbench.report.html.tables import view
from pacbench.report.naming import name_of, varying_axes
from pacbench.report.pictures import picture_rows
from pacbench.report.run import Results
from pacbench.report.table import Table


def report_page(runs: Sequence[Results], decisions: Sequence[Decision], title: str) -> str:
    """The page as text.

    Args:
        runs: one per suite.
        decisions: on the paper's claims.
    """
    templates = Templates(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    template = templates.from_string(_file("report.html.j2"))
    tables = [table_of(run) for run in runs]
    best = summary.best(runs, tables)
    return template.render(
        title=title,
        css=_asset("report.css"),
        theme=_asset("theme.js"),
        script=_asset("report.js"),
        version=package_version(),
        measured=machines.measured(runs),
        machines=machines.suites_of_machines(runs),
        facts=summary.facts(runs, decisions),
        best=view(best) if best.rows else None,
        suites=[_suite(run, table) for run, table in zip(runs, tables, strict=True)],
        claims=view(claims_table(decisions)),
        failures=[_failure(r, run) for run in runs for r in run.records if not r.ok],
        environments=machines.environments(runs),
    )


def _asset(name: str) -> Markup:
    """Our own style or script, which goes into the page unescaped."""
    return Markup(_file(name))  # noqa: S704


def _file(name: str) -> str:
    return files("pacbench.report.html").joinpath(name).read_text(encoding="utf-8")


def _suite(run: Results, table: Table) -> dict[str, Any]:
    return {
        "id": f"suite-{run.suite.name}",
        "name": run.suite.name,
        "measured": machines.measured([run]),
        "environments": list(run.environments),
        "table": view(table),
        "figures": list(figures(run)),
        "pictures": [compared(row) for row in picture_rows(run)],
        "cells": [_cell(record, run) for record in run.records],
    }


def _failure(record: Record, run: Results) -> dict[str, str]:
    failure = record.failure
    return {
        "name": f"{run.suite.name}: {_named(record, run)}",
        "status": record.status,
        "message": failure.message if failure else "",
        "tail": failure.tail if failure else "",
    }


def _cell(record: Record, run: Results) -> dict[str, str]:
    return {
        "name": _named(record, run),
        "took": f"{record.seconds.work:.1f} s",
        "command": record.command,
    }


def _named(record: Record, run: Results) -> str:
    return name_of(record, varying_axes(run.records))
