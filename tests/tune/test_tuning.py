"""Tuning: finds the best, goes from coarse to fine, evaluates nothing twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pacbench import session
from pacbench.errors import UserError
from pacbench.suite import Cell
from pacbench.suite.schema import Suite
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


def test_mistakes_are_told(tmp_path: Path) -> None:
    suite, cell = plan(tmp_path, tuning=None)
    with pytest.raises(UserError, match="has no grid for 'full_crf'"):
        spec_for(suite, cell)
    suite, cell = plan(tmp_path, tuning={"grids": {"full_crf": {"thetabeta": [1.0]}}})
    with pytest.raises(UserError, match=r"no such parameter \(did you mean 'theta_beta'"):
        spec_for(suite, cell)


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
    assert found.score > 0
    assert -found.score == max(scores.values())
    assert scores[found.params["c"]] == -found.score


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
    methods = [{"name": "mrf", "params_at": {"factor": {2: found.params}}}]
    suite, cells = plan_all(tmp_path, **UPSAMPLE | {"methods": methods})
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
