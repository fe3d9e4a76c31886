"""What the page shows, put together for its template."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby
from typing import Any

from jinja2 import Environment as Templates
from jinja2 import StrictUndefined
from markupsafe import Markup

from pacbench.claims.decide import Decision
from pacbench.claims.report import EXIT_CODES, claims_table
from pacbench.environment import package_version
from pacbench.record import Record
from pacbench.report.build import table_of
from pacbench.report.html.images import of_picture, of_plot
from pacbench.report.naming import name_of, varying_axes
from pacbench.report.pictures import PictureRow, picture_rows
from pacbench.report.plots import FIGURES
from pacbench.report.plots.pictures import pictures
from pacbench.report.plots.style import save
from pacbench.report.run import Results
from pacbench.report.table import Column, Entry, Table

TITLES = {
    "trade-off": "accuracy against runtime",
    "factor": "error, runtime and memory against the factor",
    "steps": "mIoU and runtime against mean-field steps",
    "dilation": "gain against dilation",
    "scaling": "runtime and memory against image size",
    "classes": "runtime and memory against the number of classes",
    "roofline": "roofline of the kernels",
    "timings": "distribution of timings",
}
PICTURE_FIGURE = 1600
"""Widest figure of picture rows, pixels."""

WIDE = 7
"""Inches from which on a figure gets a row of its own."""


@dataclass(frozen=True)
class TableView:
    """A table as the template shows it."""

    caption: str
    columns: list[Column]
    groups: list[tuple[str, int]]
    rows: list[list[Entry]]
    conditions: list[str]
    notes: list[str]


def report_page(runs: Sequence[Results], decisions: Sequence[Decision], title: str) -> str:
    """The page as text.

    Args:
        runs: one per suite.
        decisions: on the paper's claims.
    """
    folder = files("pacbench.report.html")
    templates = Templates(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    template = templates.from_string(folder.joinpath("report.html.j2").read_text(encoding="utf-8"))
    tables = [table_of(run) for run in runs]
    started = min(record.started for run in runs for record in run.records)
    return template.render(
        title=title,
        subtitle=f"measured from {started} on {runs[0].environment.cpu}",
        css=_asset("report.css"),
        script=_asset("report.js"),
        version=package_version(),
        facts=_facts(runs, decisions),
        best=[line for table in tables if (line := _best(table))],
        suites=[_suite(run, table) for run, table in zip(runs, tables, strict=True)],
        claims=_view(claims_table(decisions)),
        verdicts=list(EXIT_CODES),
        failures=[_failure(r, run) for run in runs for r in run.records if not r.ok],
        cells=[_cell(record, run) for run in runs for record in run.records],
        environments=_environments(runs),
    )


def _asset(name: str) -> Markup:
    """Our own style or script, which goes into the page unescaped."""
    return Markup(files("pacbench.report.html").joinpath(name).read_text(encoding="utf-8"))  # noqa: S704


def _facts(runs: Sequence[Results], decisions: Sequence[Decision]) -> list[tuple[int, str]]:
    records = [record for run in runs for record in run.records]
    facts = [
        (len(runs), "suite" if len(runs) == 1 else "suites"),
        (sum(record.ok for record in records), "cells measured"),
        (sum(not record.ok for record in records), "cells failed"),
        (sum(bool(r.timing and r.timing.unstable) for r in records), "unstable timings"),
    ]
    for verdict, what in (
        ("holds", "claims hold"),
        ("does not hold", "claims do not hold"),
        ("not decided", "claims not decided"),
    ):
        facts.append((sum(d.verdict == verdict for d in decisions), what))
    return facts


FIRST_READ = ("mIoU", "RMSE", "EPE", "runtime")


def _best(table: Table) -> str:
    """``CRFs: best mIoU, %: PAC-CRF (58.1 ± 1.2); …`` for the columns that people look at first."""
    told = []
    for index, column in enumerate(table.columns):
        if column.group == "paper" or not column.title.startswith(FIRST_READ):
            continue
        best = [row for row in table.rows if row[index].rank == 1]
        if best:
            group = f"{column.group}, " if column.group not in ("", "measured") else ""
            names = " and ".join(row[0].text for row in best)
            told.append(f"{group}{column.title}: {names} ({best[0][index].text})")
    return f"{table.caption}. Best: {'; '.join(told)}" if told else ""


def _suite(run: Results, table: Table) -> dict[str, Any]:
    return {
        "id": f"suite-{run.suite.name}",
        "short": run.suite.name,
        "table": _view(table),
        "figures": _figures(run),
        "pictures": [_pictures(row) for row in picture_rows(run)],
    }


def _view(table: Table) -> TableView:
    groups: list[tuple[str, int]] = []
    if any(column.group for column in table.columns):
        for group, members in groupby(table.columns, key=lambda column: column.group):
            groups.append((group, len(list(members))))
    return TableView(
        table.caption, table.columns, groups, table.rows, table.conditions, table.notes
    )


def _figures(run: Results) -> list[dict[str, str]]:
    drawn = []
    for name, draw in FIGURES.items():
        figure = draw(run)
        if figure is not None:
            width = "wide" if figure.get_figwidth() > WIDE else ""
            drawn.append({"title": TITLES[name], "source": of_plot(figure), "width": width})
    for name, source in _picture_figures(run):
        drawn.append({"title": name, "source": source, "width": "whole"})
    return drawn


def _picture_figures(run: Results) -> Iterator[tuple[str, str]]:
    """The picture rows; where the pictures were not kept, as they were drawn when the run ended."""
    found = False
    for name, figure in pictures(run):
        buffer = io.BytesIO()
        save(figure, buffer, "png")
        found = True
        yield name, of_picture(buffer, PICTURE_FIGURE)
    if not found:
        for folder in run.folders:
            for path in sorted((folder.path / "figures").glob("*-pictures*.png")):
                name = path.stem.removeprefix(f"{run.suite.name}-")
                yield name, of_picture(path, PICTURE_FIGURE)


def _pictures(row: PictureRow) -> dict[str, Any]:
    named = dict(row.inputs)
    if row.truth is not None:
        named["truth"] = row.truth
    for output in row.outputs:
        named[output.name] = output.path
        if output.error is not None:
            named[f"{output.name}: error"] = output.error
    names = list(named)
    last = row.outputs[-1].name
    return {
        "title": row.title,
        "names": names,
        "left": names.index("truth") if row.truth is not None else 0,
        "right": names.index(last),
        "sources": [of_picture(path) for path in named.values()],
    }


def _failure(record: Record, run: Results) -> dict[str, str]:
    failure = record.failure
    return {
        "name": f"{run.suite.name}: {name_of(record, varying_axes(run.records))}",
        "status": record.status,
        "message": failure.message if failure else "",
        "tail": failure.tail if failure else "",
    }


def _cell(record: Record, run: Results) -> dict[str, str]:
    return {
        "name": f"{run.suite.name}: {name_of(record, varying_axes(run.records))}",
        "took": f"{record.seconds.work:.1f} s",
        "command": record.command,
    }


def _environments(runs: Sequence[Results]) -> list[dict[str, Any]]:
    found = {key: value for run in runs for key, value in run.environments.items()}
    shown = []
    for environment in found.values():
        facts = environment.model_dump(exclude={"packages"})
        shown.append(
            {
                "facts": [(key.replace("_", " "), _plain(value)) for key, value in facts.items()],
                "packages": list(environment.packages.items()),
            }
        )
    return shown


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "not known" if value is None else str(value)
