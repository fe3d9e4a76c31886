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
from pacbench.tune.job import run_tuning, spec_for
from pacbench.tune.search import search

GRID = {"w1": [0.5, 4.0], "theta_beta": [3.0, 20.0]}


def plan(tmp_path: Path, **changes: Any) -> tuple[Suite, Cell]:
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
    return planned.source.suite, planned.cells[0]


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
