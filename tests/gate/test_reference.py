"""Ratios to yardsticks: kept, compared, and refused where they mean nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pacbench.environment import Environment, capture
from pacbench.errors import UserError
from pacbench.gate.decide import Rule
from pacbench.gate.reference import YARDSTICKS, LogRatios, Reference, compare, measure
from pacbench.gate.session import Report
from pacbench.session import plan


@pytest.fixture(scope="module")
def environment() -> Environment:
    return capture(1)


def ratios(**shifts: float) -> LogRatios:
    """Six processes that agree within a per cent; ``shifts`` by yardstick."""
    random = np.random.default_rng(len(shifts))
    shares = {
        name: (shifts.get(name, 0.0) + random.normal(0, 0.003, 6)).tolist() for name in YARDSTICKS
    }
    return {"PAC": shares}


def judge(environment: Environment, now: LogRatios) -> Report:
    reference = Reference(environment=environment, log_ratios=ratios())
    return compare(reference, now, environment, Rule(), False, "reference.json")


@pytest.mark.parametrize(
    ("shifts", "verdict"),
    [
        ({}, "same"),
        (dict.fromkeys(YARDSTICKS, 0.1), "slower"),
        (dict.fromkeys(YARDSTICKS, -0.1), "faster"),
        ({"conv2d": 0.1, "gemm": 0.1}, "undecided"),  # memory became slower as well
    ],
)
def test_all_yardsticks_must_agree(
    environment: Environment, shifts: dict[str, float], verdict: str
) -> None:
    (finding,) = judge(environment, ratios(**shifts)).findings
    assert finding.verdict == verdict
    assert "they disagree by" in finding.note
    for name in YARDSTICKS:
        assert f"{name} " in finding.note


def test_a_new_benchmark_is_not_compared(environment: Environment) -> None:
    report = judge(environment, {"new": ratios()["PAC"]})
    assert report.findings[0].verdict == "not compared"


def test_another_cpu_is_refused_unless_allowed(environment: Environment) -> None:
    elsewhere = environment.model_copy(update={"cpu": "another"})
    reference = Reference(environment=elsewhere, log_ratios=ratios())
    with pytest.raises(UserError, match="was measured on another, this is"):
        compare(reference, ratios(), environment, Rule(), False, "r")
    assert compare(reference, ratios(), environment, Rule(), True, "r").exit_code == 0


def test_files(environment: Environment, tmp_path: Path) -> None:
    path = tmp_path / "reference.json"
    with pytest.raises(UserError, match="cannot be read"):
        Reference.read(path)
    path.write_text("{}")
    with pytest.raises(UserError, match="is no reference of the gate"):
        Reference.read(path)
    reference = Reference(environment=environment, log_ratios=ratios())
    path.write_text(reference.model_dump_json())
    assert Reference.read(path) == reference


def test_measuring(tmp_path: Path) -> None:
    cells = [
        cell.model_copy(update={"repeats": 3})
        for cell in plan("gate", only={"method": "pac_pool2d"}).cells
    ]
    measured = measure(cells, processes=2, scratch=tmp_path)
    (shares,) = measured.values()
    assert {name: len(logs) for name, logs in shares.items()} == dict.fromkeys(YARDSTICKS, 2)
