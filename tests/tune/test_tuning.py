"""Tuning: finds the best, goes from coarse to fine, evaluates nothing twice."""

from __future__ import annotations

import importlib
import math
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from pacbench import session
from pacbench.cli import app
from pacbench.errors import UserError
from pacbench.method import methods
from pacbench.suite import Cell
from pacbench.suite.schema import Suite
from pacbench.tune.code import code_of
from pacbench.tune.job import run_tuning, spec_for, tunable
from pacbench.tune.params import as_yaml
from pacbench.tune.search import search

UPSAMPLE: dict[str, Any] = {
    "task": "upsample",
    "protocol": {"target": "flow", "mode": "bilinear"},
    "data": {"name": "scenes", "params": {"size": [24, 32], "unary": None}},
    "methods": [{"name": "bilinear"}, {"name": "gf"}, {"name": "mrf"}],
    "sweep": {"factor": [2, 4]},
    "tuning": {
        "samples": 2,
        "rounds": 1,
        "gain": 0.0,
        "grids": {"mrf": {"c": [10.0, 100.0]}, "gf": {"epsilon": [0.0001, 0.01]}},
    },
}
GRID = {"w1": [0.5, 4.0], "theta_beta": [3.0, 20.0]}


def plan(tmp_path: Path, **changes: Any) -> tuple[Suite, Cell]:
    suite, cells = plan_all(tmp_path, **changes)
    return suite, cells[0]


def plan_all(tmp_path: Path, **changes: Any) -> tuple[Suite, list[Cell]]:
    path = tmp_path / "suite.yaml"
    suite = {
        "name": "small",
        "task": "crf",
        "data": {"name": "scenes", "params": {"size": [24, 32]}},
        "methods": [{"name": "full_crf", "params": {"steps": 2}}],
        "tuning": {"samples": 2, "rounds": 1, "grids": {"full_crf": GRID}},
        **changes,
    }
    path.write_text(yaml.safe_dump(suite, sort_keys=False))
    planned = session.plan(str(path), threads=1)
    return planned.source.suite, planned.cells


def test_search_goes_from_coarse_to_fine() -> None:
    asked = []

    def score(point: dict[str, float]) -> float:
        asked.append(point)
        return -((point["x"] - 3.3) ** 2) - (point["y"] - 0.5) ** 2

    best, value = search({"x": [1, 10], "y": [0.1, 1]}, score, step=1.5, rounds=4)
    assert best == pytest.approx({"x": 3.3, "y": 0.5}, rel=0.1)
    assert value == score(best)
    assert asked[:4] == [{"x": x, "y": y} for x in (1, 10) for y in (0.1, 1)]


def test_search_stays_at_the_best_of_the_grid_if_nothing_is_better() -> None:
    best, _ = search({"x": [1, 2, 4]}, lambda point: -abs(point["x"] - 2), step=1.5, rounds=3)
    assert best == {"x": 2}


def test_search_does_not_run_after_gains_that_are_none() -> None:
    """Ever smaller x is ever better, by less and less."""
    best, _ = search({"x": [1.0]}, lambda point: -1 - point["x"], step=2, rounds=2, gain=0.01)
    assert 0.01 < best["x"] < 0.1


def test_what_was_evaluated_is_not_evaluated_again(tmp_path: Path) -> None:
    suite, cell = plan(tmp_path)
    spec, path = spec_for(suite, cell), tmp_path / "tried.jsonl"
    tried: list[dict[str, float]] = []
    found = run_tuning(cell, spec, path, lambda point, _: tried.append(point))
    assert found.evaluated == len(tried) == len(path.read_text().splitlines())
    assert tried[:4] == [{"w1": w, "theta_beta": b} for w in (0.5, 4.0) for b in (3.0, 20.0)]

    path.write_bytes(path.read_bytes()[:-10])  # as if killed in the middle of a line
    again: list[dict[str, float]] = []
    assert run_tuning(cell, spec, path, lambda point, _: again.append(point)) == found
    assert again == tried[-1:]
    assert run_tuning(cell, spec, path, lambda *_: pytest.fail("evaluated again")) == found


def test_another_seed_is_another_search(tmp_path: Path) -> None:
    suite, cell = plan(tmp_path)
    spec, path = spec_for(suite, cell), tmp_path / "tried.jsonl"
    run_tuning(cell, spec, path, lambda *_: None)
    _, other = plan(tmp_path, seed=1)
    tried: list[dict[str, float]] = []
    run_tuning(other, spec, path, lambda point, _: tried.append(point))
    assert len(tried) >= 4


def test_another_code_is_another_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite, cell = plan(tmp_path)
    spec, path = spec_for(suite, cell), tmp_path / "tried.jsonl"
    found = run_tuning(cell, spec, path, lambda *_: None)
    monkeypatch.setattr("pacbench.tune.job.code_of", lambda _: "changed")
    tried: list[dict[str, float]] = []
    assert run_tuning(cell, spec, path, lambda point, _: tried.append(point)) == found
    assert len(tried) == found.evaluated


def test_the_code_of_a_method_is_all_that_it_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "filters_of_a_test"
    package.mkdir()
    files = {
        "__init__": "",
        "filter": "from filters_of_a_test import base\n\n\nclass Filter(base.Base): ...\n",
        "base": "from .solver import solve\n\n\nclass Base: ...\n",
        "solver": "def solve(): ...\n",
        "other": "",
    }
    for name, text in files.items():
        (package / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    cls = importlib.import_module("filters_of_a_test.filter").Filter
    before = code_of(cls)
    (package / "other.py").write_text("changed = True\n")
    assert code_of(cls) == before
    (package / "solver.py").write_text("def solve(): return 1\n")
    assert code_of(cls) != before
    assert len({code_of(methods[name]) for name in ("mrf", "gf", "jbu")}) == 3


def test_mistakes_are_told(tmp_path: Path) -> None:
    suite, cell = plan(tmp_path, tuning=None)
    with pytest.raises(UserError, match="has no grid for 'full_crf'"):
        spec_for(suite, cell)
    suite, cell = plan(tmp_path, tuning={"grids": {"full_crf": {"thetabeta": [1.0]}}})
    with pytest.raises(UserError, match=r"no such parameter \(did you mean 'theta_beta'"):
        spec_for(suite, cell)
    suite, cell = plan(tmp_path, tuning={"grids": {"full_crf": GRID}, "params": {"cuont": 3}})
    with pytest.raises(UserError, match=r"tuning.params.cuont: unknown key \(did you mean 'count'"):
        run_tuning(cell, spec_for(suite, cell), tmp_path / "tried.jsonl", lambda *_: None)
    data = {"name": "scenes", "params": {"size": [24, 32], "unary": None}}
    suite, cell = plan(tmp_path, data=data)
    with pytest.raises(UserError, match=r"split 'train': sample 'train-.*' has no unaries"):
        run_tuning(cell, spec_for(suite, cell), tmp_path / "tried.jsonl", lambda *_: None)


def test_a_search_without_any_score_is_told(tmp_path: Path) -> None:
    grids = {"gf": {"epsilon": [1e-9]}}  # out of the method's range
    suite, cells = plan_all(tmp_path, **UPSAMPLE | {"tuning": {"rounds": 0, "grids": grids}})
    (cell, _) = tunable(suite, cells)["GF"]
    scores: list[float] = []
    with pytest.raises(UserError, match=r"GF factor=2 .*: none of 1 points has a score"):
        run_tuning(
            cell, spec_for(suite, cell), tmp_path / "tried.jsonl", lambda _, s: scores.append(s)
        )
    assert all(math.isnan(score) for score in scores)
    assert len(scores) == 1


def test_the_command_prints_what_a_suite_takes(tmp_path: Path) -> None:
    plan_all(tmp_path, **UPSAMPLE)
    command = ["tune", str(tmp_path / "suite.yaml"), "--method", "gf", "--threads", "1"]
    command += ["--out", str(tmp_path), "--quiet"]
    one = CliRunner().invoke(app, [*command, "--factor", "4"])
    assert one.exit_code == 0, one.output
    told, title, params = one.output.splitlines()
    assert re.fullmatch(r"GF factor=4 \[.*\]: EPE \d+\.\d{3} px, best of \d+ points \(.*\)", told)
    assert title == "    # GF"
    found = yaml.safe_load(params)["params"]
    assert found.keys() == {"epsilon"}
    both = CliRunner().invoke(app, command)
    assert both.exit_code == 0, both.output
    lines = [line for line in both.output.splitlines() if line.startswith("    ")]
    by_factor = yaml.safe_load("\n".join(lines))["params_at"]["factor"]
    assert by_factor.keys() == {2, 4}
    assert by_factor[4] == found
    assert {path.name for path in (tmp_path / "small").iterdir()} == {
        "gf-factor-2.jsonl",
        "gf-factor-4.jsonl",
    }


def test_all_methods_with_a_grid_are_tuned_for_every_factor(tmp_path: Path) -> None:
    suite, cells = plan_all(tmp_path, **UPSAMPLE)
    found = tunable(suite, cells)
    assert {
        label: [cell.protocol["factor"] for cell in cells] for label, cells in found.items()
    } == {
        "GF": [2, 4],
        "MRF": [2, 4],
    }
    with pytest.raises(UserError, match="has no grid for 'bilinear'"):
        tunable(suite, cells[:2])


def test_errors_are_made_small(tmp_path: Path) -> None:
    suite, cells = plan_all(tmp_path, **UPSAMPLE)
    (cell, _) = tunable(suite, cells)["MRF"]
    scores: dict[float, float] = {}
    found = run_tuning(
        cell,
        spec_for(suite, cell),
        tmp_path / "tried.jsonl",
        lambda p, s: scores.update({p["c"]: s}),
    )
    assert found.score < 0  # a negated error: larger is better
    assert found.score == max(scores.values()) == scores[found.params["c"]]


def test_a_step_out_of_range_is_no_candidate(tmp_path: Path) -> None:
    suite, cells = plan_all(tmp_path, **UPSAMPLE)
    (cell, _) = tunable(suite, cells)["GF"]
    tried: list[float] = []
    found = run_tuning(
        cell,
        spec_for(suite, cell),
        tmp_path / "tried.jsonl",
        lambda p, _: tried.append(p["epsilon"]),
    )
    assert found.params["epsilon"] >= 0.0001


def test_what_was_found_and_put_into_the_suite_is_known(tmp_path: Path) -> None:
    suite, cells = plan_all(tmp_path, **UPSAMPLE)
    path = tmp_path / "tried.jsonl"
    (cell, _) = tunable(suite, cells)["MRF"]
    found = run_tuning(cell, spec_for(suite, cell), path, lambda *_: None)
    tuned = [{"name": "mrf", "params_at": {"factor": {2: found.params}}}]
    suite, cells = plan_all(tmp_path, **UPSAMPLE | {"methods": tuned})
    assert cells[0].params["c"] == found.params["c"]
    again = run_tuning(cells[0], spec_for(suite, cells[0]), path, lambda *_: pytest.fail("again"))
    assert again == found


def test_the_result_is_what_a_suite_takes(tmp_path: Path) -> None:
    _, (bilinear2, _, gf2, gf4, *_) = plan_all(tmp_path, **UPSAMPLE)
    assert as_yaml([(bilinear2, {"c": 1.5})]) == "params: {c: 1.5}"
    text = as_yaml(
        [(gf2, {"radius": 0.25, "epsilon": 0.001}), (gf4, {"radius": 1.0, "epsilon": 0.1})]
    )
    assert yaml.safe_load(text) == {
        "params_at": {
            "factor": {2: {"radius": 0.25, "epsilon": 0.001}, 4: {"radius": 1.0, "epsilon": 0.1}}
        }
    }
    _, cells = plan_all(tmp_path, **UPSAMPLE | {"sweep": {"factor": [2, 4], "threads": [1, 2]}})
    lines = as_yaml([(cell, {"c": 1.0}) for cell in cells[-4:]]).splitlines()
    assert [line.split("#")[0].strip() for line in lines] == ["params: {c: 1.0}"] * 4
