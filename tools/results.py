"""Run the standard suites and commit-ready their results: records, tables, figures, README.

    python tools/results.py [--tables-only]

``--tables-only`` makes tables, README and the figures that are drawn from records anew, without
measuring. The picture rows need the images of a run, which are not kept: a full run makes them.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

from pacbench import session
from pacbench.report.run import read, write_figures, write_tables
from pacbench.store import RunFolder

ROOT = Path(__file__).parents[1]
SUITES = ("crf",)
KEPT = ("suite.yaml", "run.json", "environment.json", "records.jsonl")


def measure(name: str, folder: Path) -> None:
    """Run a suite and keep what its tables and figures are made of."""
    with tempfile.TemporaryDirectory() as scratch:
        work = session.create(session.plan(f"suites/{name}.yaml"), Path(scratch))
        work.run()
        results = read(work.folder)
        failed = [record for record in results.records if not record.ok]
        if failed:
            sys.exit(f"{name}: {failed[0].cell}: {failed[0].failure}")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for kept in KEPT:
            shutil.copy(work.folder.path / kept, folder)
        write_figures(results, ["png"])
        shutil.copytree(work.folder.path / "figures", folder / "figures")


def show_in_readme(name: str, table: str) -> None:
    """Put a table between its markers in the README."""
    readme = ROOT / "README.md"
    begin, end = f"<!-- results/{name} begin -->\n", f"<!-- results/{name} end -->"
    text = readme.read_text(encoding="utf-8")
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    readme.write_text(pattern.sub(lambda _: begin + table + end, text), encoding="utf-8")


def main() -> None:
    for name in SUITES:
        folder = ROOT / "results" / name
        if "--tables-only" not in sys.argv[1:]:
            measure(name, folder)
        results = read(RunFolder(folder))
        write_tables(results, ["md", "latex", "csv"])
        write_figures(results, ["png"])  # leaves picture rows alone where no images are kept
        show_in_readme(name, (folder / "tables" / f"{name}.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
