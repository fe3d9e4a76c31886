"""Suites choose the protocol of their task, and parameters that go with it."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from pacbench.runner import groups
from pacbench.suite import Cell, load_suite
from pacbench.suite.json_schema import suite_schema
from pacbench.suite.problems import SuiteError

SUITE: dict[str, Any] = {
    "name": "small",
    "task": "upsample",
    "protocol": {"target": "flow", "mode": "bilinear"},
    "data": {"name": "scenes", "params": {"unary": None}},
    "methods": [{"name": "djf"}, {"name": "pac"}],
    "sweep": {"factor": [4, 8]},
}


def cells_of(folder: Path, **changes: Any) -> list[Cell]:
    path = folder / "suite.yaml"
    path.write_text(yaml.safe_dump(copy.deepcopy(SUITE) | changes))
    return load_suite(str(path)).cells("cpu", 1, {})


def test_the_protocol_is_swept_for_every_method(tmp_path: Path) -> None:
    cells = cells_of(tmp_path)
    assert [(c.method, c.protocol["factor"]) for c in cells] == [
        ("djf", 4), ("djf", 8), ("pac", 4), ("pac", 8),
    ]  # fmt: skip
    assert all(cell.axes == {"factor": cell.protocol["factor"]} for cell in cells)
    assert cells[0].protocol == {
        "target": "flow", "factor": 4, "mode": "bilinear", "noise": 0.0, "joint_channels": False,
    }  # fmt: skip
    assert len({cell.id for cell in cells}) == 4
    assert cells[0].facts()["target"] == "flow"


def test_cells_of_one_protocol_are_timed_together(tmp_path: Path) -> None:
    together = groups(cells_of(tmp_path))
    assert [[cell.protocol["factor"] for cell in group] for group in together] == [[4, 4], [8, 8]]


def test_parameters_can_go_with_the_protocol(tmp_path: Path) -> None:
    by_factor = {4: {"weights": "four"}, 8: {"weights": "eight"}}
    method = {"name": "djf", "params_at": {"factor": by_factor}}
    cells = cells_of(tmp_path, methods=[method], sweep={"factor": [2, 4, 8]})
    assert [cell.params["weights"] for cell in cells] == [None, "four", "eight"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"protocol": {"mod": "center"}}, r"protocol.mod: unknown key \(did you mean 'mode'"),
        ({"protocol": {"mode": "lanczos"}}, "protocol.mode: got 'lanczos'; allowed: 'center'"),
        ({"protocol": {"factor": 4}}, "protocol.factor: is also an axis under 'sweep'"),
        ({"sweep": {"factor": [4, 0]}}, "sweep.factor.1: got 0"),
        ({"sweep": {"factr": [4]}}, r"no method here has such a parameter \(did you mean 'factor'"),
        (
            {"methods": [{"name": "djf", "params_at": {"factr": {4: {}}}}]},
            r"params_at.factr: is no axis and nothing of the protocol \(did you mean 'factor'",
        ),
        (
            {"methods": [{"name": "djf", "params_at": {"factor": {4: {"weight": "x"}}}}]},
            r"weight: unknown key \(did you mean 'weights'",
        ),
    ],
)
def test_mistakes_are_said_where_they_are(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(SuiteError, match=message):
        cells_of(tmp_path, **changes)


def test_a_task_without_protocol_refuses_one(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"protocol\.factor: unknown key"):
        cells_of(
            tmp_path, task="crf", methods=[{"name": "unary"}], sweep={}, protocol={"factor": 4}
        )


def test_the_schema_knows_the_protocol() -> None:
    chosen = {
        rule["if"]["properties"]["task"]["const"]: rule["then"]["properties"]["protocol"]
        for rule in suite_schema()["allOf"]
    }
    assert "factor" in chosen["upsample"]["anyOf"][0]["properties"]
    assert chosen["crf"]["anyOf"][0]["additionalProperties"] is False
