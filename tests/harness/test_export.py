"""airspeed velocity's own commands take what is exported for it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from made_results import crf_results

from pacbench.export import FORMATS
from pacbench.report.run import Results
from pacbench.timing import Timing

ASV = Path(sys.executable).with_name("asv")
CONFIGURATION = {
    "version": 1,
    "project": "pacbench",
    "repo": ".",
    "branches": ["main"],
    "results_dir": "results",
    "html_dir": "html",
    "environment_type": "existing",
}


def call(folder: Path, *command: object) -> str:
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def commit(folder: Path, text: str) -> str:
    (folder / "file").write_text(text)
    call(folder, "git", "add", "file")
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    call(folder, "git", *identity, "commit", "--quiet", "--message", text)
    return call(folder, "git", "rev-parse", "HEAD")


def measured(results: Results, commit: str, seconds: float) -> Results:
    """The results as of that commit, every cell taking about so long."""
    blocks = [seconds * (1 + 0.01 * i) for i in range(16)]
    timing = Timing.of([blocks], [[0, 1] * 8], [3])
    environments = {
        key: environment.model_copy(update={"commit": commit})
        for key, environment in results.environments.items()
    }
    records = [r.model_copy(update={"timing": timing}) for r in results.records if r.timing]
    return replace(results, environments=environments, records=records)


@pytest.mark.skipif(not ASV.exists(), reason="asv is not installed")
def test_asv_shows_and_compares_commits(tmp_path: Path) -> None:
    call(tmp_path, "git", "init", "--quiet", "--initial-branch", "main")
    commits = [commit(tmp_path, text) for text in ("before", "after")]
    (tmp_path / "asv.conf.json").write_text(json.dumps(CONFIGURATION))
    results = crf_results(tmp_path / "run")
    for sha, seconds in zip(commits, (0.001, 0.002), strict=True):
        for name, text in FORMATS["asv"](measured(results, sha, seconds)).items():
            path = tmp_path / "results" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    assert "Full-CRF [pydensecrf, cpu]" in call(tmp_path, ASV, "show", commits[1])
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in call(tmp_path, ASV, "compare", *commits).splitlines()
        if line.startswith("| +")
    ]
    assert len(rows) == sum(record.timing is not None for record in results.records)
    assert {row[3] for row in rows} == {"2"}


def test_asv_gets_an_interval_of_99_percent(tmp_path: Path) -> None:
    results = measured(crf_results(tmp_path), "a" * 40, 0.001)
    (content,) = [
        json.loads(text)
        for name, text in FORMATS["asv"](results).items()
        if name.startswith("pacbench/aaaaaaaa")
    ]
    columns = content["result_columns"]
    for values in content["results"].values():
        entry = dict(zip(columns, values, strict=True))
        low, high = entry["stats_ci_99_a"][0], entry["stats_ci_99_b"][0]
        timing = results.records[0].timing
        assert timing is not None
        assert timing.interval is not None
        assert low <= timing.interval[0] <= entry["result"][0] <= timing.interval[1] <= high
        assert high - low > timing.interval[1] - timing.interval[0]


def test_an_interval_that_is_not_known_is_none(tmp_path: Path) -> None:
    results = crf_results(tmp_path)
    few = Timing.of([[0.1, 0.11, 0.12]])
    results = replace(results, records=[results.records[1].model_copy(update={"timing": few})])
    (entry,) = json.loads(FORMATS["github-action-benchmark"](results)[""])
    assert entry["range"] == "not known"
    content = json.loads(
        next(text for name, text in FORMATS["asv"](results).items() if "-" in name)
    )
    columns = content["result_columns"]
    (values,) = content["results"].values()
    assert [values[columns.index(f"stats_ci_99_{end}")] for end in "ab"] == [[None], [None]]
