"""Run the standard suites and make the committed results: records, tables, figures, claims, README.

    python tools/results.py [--tables-only] [--minutes N] [SUITE...]

Named suites only, or all of ``results/standard.yaml``. Runs are made in ``build/results``; one that
was interrupted goes on there as long as nothing was committed in between, and a suite with a cell
that fails is left out of the results. ``--tables-only`` makes anew what records give, without
measuring; picture rows stay as they are, for the images of a run are not kept. A full run also
writes ``build/report.html``, which has them.
"""

from __future__ import annotations

import argparse
import math
import re
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import yaml
from PIL import Image

from pacbench import session
from pacbench.claims.decide import Decision, decide
from pacbench.claims.model import load_claims
from pacbench.claims.programs import as_json
from pacbench.claims.report import claims_table, summary
from pacbench.errors import UserError
from pacbench.json_lines import append
from pacbench.report.build import table_of
from pacbench.report.formats import RENDERERS, markdown
from pacbench.report.html import report_page
from pacbench.report.run import Results, read
from pacbench.report.table import Table
from pacbench.report.write import write_figures, write_tables
from pacbench.store import RunFolder
from pacbench.suite.load import load_suite

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
RUNS = ROOT / "build" / "results"
KEPT = ("suite.yaml", "run.json", "environment.json", "calibration.json")
DIGITS = 5
"""Significant digits of timed blocks that are kept: far finer than any clock's noise."""

SHORT = 3
"""Columns of the claims that README shows: claim, verdict and effect, not the paper's words."""


def standard_suites() -> dict[str, list[str]]:
    """``results/standard.yaml``: by name, what is set beyond the suite itself."""
    return dict(yaml.safe_load((RESULTS / "standard.yaml").read_text(encoding="utf-8")))


def measure(name: str, overrides: list[str]) -> Results | None:
    """Run a suite, or finish its run; None if a cell failed, for a reference result has none."""
    started = time.monotonic()
    work = _begun(name) or session.create(
        session.plan(f"suites/{name}.yaml", overrides=overrides), RUNS / name
    )
    work.run()
    results = read(work.folder)
    print(f"{name}: {len(results.records)} cells in {time.monotonic() - started:.0f} s", flush=True)
    failed = [record for record in results.records if not record.ok]
    for record in failed:
        print(f"{name}: {record.cell}: {record.failure}", file=sys.stderr)
    return None if failed else results


def measure_all(suites: dict[str, list[str]], minutes: float) -> dict[str, Results]:
    """One suite after the other; none begins after so many minutes, or after Ctrl-C."""
    started, measured = time.monotonic(), {}
    for name, overrides in suites.items():
        if time.monotonic() - started > 60 * minutes:
            print(f"{name}: left for the next time, {minutes:g} minutes are over")
            continue
        try:
            results = measure(name, overrides)
        except UserError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        except KeyboardInterrupt:
            print(f"{name}: interrupted; the suites before it are kept", file=sys.stderr)
            break
        if results:
            measured[name] = results
    return measured


def _begun(name: str) -> session.Session | None:
    """The last run of a suite, if it was made of this commit and by what the suite says now."""
    text = load_suite(f"suites/{name}.yaml", standard_suites()[name]).text
    for path in sorted((RUNS / name).glob("*/records.jsonl"), reverse=True):
        folder = RunFolder(path.parent)
        if folder.suite_path().read_text(encoding="utf-8") == text:
            with suppress(UserError):  # another environment, another commit
                return session.reopen(folder)
    return None


def keep(results: Results, folder: Path) -> None:
    """Put into ``folder`` what tables and figures are made of, and the picture rows."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "figures").mkdir(parents=True)
    for name in KEPT:
        if (results.folder.path / name).exists():
            shutil.copy(results.folder.path / name, folder)
    with (folder / "records.jsonl").open("wb") as file:
        for record in results.records:
            line = record.model_dump(mode="json")
            if record.timing:
                line["timing"]["samples"] = [
                    [float(f"{seconds:.{DIGITS}g}") for seconds in blocks]
                    for blocks in record.timing.samples
                ]
            append(file, line)
    for path in write_figures(results, ["png"]):
        if "-pictures" in path.name:
            with Image.open(path) as image:
                packed = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
                packed.save(folder / "figures" / path.name, optimize=True)


def refresh(folder: Path) -> Results:
    """Make tables and figures anew from the records of a folder, and show the table in README."""
    results = read(RunFolder(folder))
    write_tables(results, list(RENDERERS))
    write_figures(results, ["png"])  # leaves picture rows alone, for no images are kept
    name = folder.name
    show_in_readme(name, readme_part(table_of(results), f"results/{name}/tables/{name}.md"))
    return results


def decisions_on(runs: list[Results]) -> list[Decision]:
    return [decide(claim, runs) for claim in load_claims()]


def write_claims(runs: list[Results]) -> None:
    """The claims as markdown and JSON in ``results/claims``; in README those that were measured."""
    folder = RESULTS / "claims"
    folder.mkdir(exist_ok=True)
    decisions = decisions_on(runs)
    table = claims_table(decisions)
    (folder / "claims.md").write_text(markdown(table), encoding="utf-8")
    (folder / "claims.json").write_text(as_json(decisions), encoding="utf-8")
    show_in_readme("claims", claims_part(decisions))


def claims_part(decisions: list[Decision]) -> str:
    """The first columns of the claims that were measured, for README; its first line has all."""
    shown = claims_table([decision for decision in decisions if decision.comparisons])
    short = replace(
        shown,
        caption=summary(decisions),
        columns=shown.columns[:SHORT],
        rows=[row[:SHORT] for row in shown.rows],
    )
    return readme_part(short, "results/claims/claims.md")


def readme_part(table: Table, path: str) -> str:
    """The table without what stands beneath it, which README links to."""
    bare = markdown(table).partition("\n\n- ")[0]
    return f"{bare}\n\nWhat the marks mean, protocol, device and backends: [{path}]({path}).\n"


def show_in_readme(name: str, text: str) -> None:
    """Put a text between its markers in the README, if it has some."""
    readme = ROOT / "README.md"
    begin, end = f"<!-- results/{name} begin -->\n", f"<!-- results/{name} end -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    before = readme.read_text(encoding="utf-8")
    after = pattern.sub(lambda _: begin + text + end, before)
    if after != before:
        readme.write_text(after, encoding="utf-8")


def committed() -> Iterator[Path]:
    """The folders of the standard suites that have results, in their order."""
    for name in standard_suites():
        if (RESULTS / name / "records.jsonl").exists():
            yield RESULTS / name


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join(standard_suites()))
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="begin no suite after so many"
    )
    parser.add_argument("--tables-only", action="store_true", help="measure nothing")
    options = parser.parse_args()
    standard = standard_suites()
    chosen = options.suites or list(standard)
    if unknown := [name for name in chosen if name not in standard]:
        parser.error(f"{unknown[0]}: is not in results/standard.yaml")
    measured = {}
    if not options.tables_only:
        # All are measured before anything is written: a commit with changes is not a reference.
        measured = measure_all({name: standard[name] for name in chosen}, options.minutes)
        for name, results in measured.items():
            keep(results, RESULTS / name)
    runs = [refresh(folder) for folder in committed()]
    write_claims(runs)
    if measured:
        shown = list(measured.values())
        page = report_page(shown, decisions_on(shown), "pacbench: reference results")
        (ROOT / "build" / "report.html").write_text(page, encoding="utf-8")
        print(f"build/report.html: {len(page.encode()) / 1e6:.1f} MB")
    return 0 if options.tables_only or len(measured) == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
