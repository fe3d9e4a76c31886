"""Ratios to yardsticks: kept, compared, and refused where they mean nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from pacbench.cli import app
from pacbench.environment import Environment, capture
from pacbench.errors import UserError
from pacbench.gate.decide import Rule
from pacbench.gate.reference import YARDSTICKS, LogRatios, Reference, compare, measure
from pacbench.gate.report import as_junit, as_markdown
from pacbench.gate.session import Report, name_of
from pacbench.session import plan

ROOT = Path(__file__).parents[2]


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
    return compare(reference, now, Rule(), "reference.json", 12.0)


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


def test_another_cpu_is_refused(environment: Environment) -> None:
    elsewhere = environment.model_copy(update={"cpu": "another"})
    reference = Reference(environment=elsewhere, log_ratios=ratios())
    with pytest.raises(UserError, match="was measured on another, this is"):
        reference.require_cpu(environment.cpu, "r")
    reference.require_cpu("another", "r")


def test_the_command_refuses_another_cpu_before_it_measures(
    environment: Environment, tmp_path: Path
) -> None:
    elsewhere = environment.model_copy(update={"cpu": "another"})
    path = tmp_path / "reference.json"
    path.write_text(Reference(environment=elsewhere, log_ratios=ratios()).model_dump_json())
    result = CliRunner().invoke(app, ["gate", "--against", str(path)])
    assert isinstance(result.exception, UserError)
    assert "--other-cpu compares them all the same" in str(result.exception)


@pytest.mark.parametrize(("shift", "code"), [(0.0, 0), (0.1, 1)])
def test_the_command_compares_it_if_told_to(
    environment: Environment,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    shift: float,
    code: int,
) -> None:
    elsewhere = environment.model_copy(update={"cpu": "another"})
    path = tmp_path / "reference.json"
    path.write_text(Reference(environment=elsewhere, log_ratios=ratios()).model_dump_json())
    now = ratios(**dict.fromkeys(YARDSTICKS, shift))
    monkeypatch.setattr("pacbench.gate.reference.measure", lambda *_: now)
    options = ["--against", str(path), "--other-cpu", "--instructions", "off"]
    result = CliRunner().invoke(app, ["gate", *options])
    assert result.exit_code == code
    assert "they disagree by" in result.output


def test_it_says_how_times_were_compared(environment: Environment) -> None:
    report = judge(environment, ratios(**dict.fromkeys(YARDSTICKS, 0.1)))
    text = as_markdown(report)
    assert "as multiples of yardsticks timed in the same rounds; timed for 12 s" in text
    assert "process pairs" not in as_junit(report)


def test_the_committed_reference_is_of_the_gates_suite() -> None:
    reference = Reference.read(ROOT / "results" / "reference.json")
    names = {name_of(cell) for cell in plan("gate").cells}
    assert reference.log_ratios.keys() == names
    assert reference.instructions.keys() == names
    for shares in reference.log_ratios.values():
        assert list(shares) == list(YARDSTICKS)
    assert reference.environment.threads == 1
    assert re.fullmatch("[0-9a-f]{40}", reference.environment.commit or "")


def test_files(environment: Environment, tmp_path: Path) -> None:
    path = tmp_path / "reference.json"
    with pytest.raises(UserError, match="cannot be read"):
        Reference.read(path)
    path.write_text("{}")
    with pytest.raises(UserError, match="is no reference of the gate"):
        Reference.read(path)
    for wrong, reason in (
        ({"PAC": {"conv2d": [0.0, 0.1]}}, "log_ratios.PAC.conv2d: List should have at least 3"),
        ({"PAC": {"hammer": [0.0, 0.1, 0.2]}}, "log_ratios.PAC.hammer"),
        ({"PAC": {}}, "log_ratios.PAC: Dictionary should have at least 1"),
    ):
        kept = {"environment": environment.model_dump(), "log_ratios": wrong}
        path.write_text(json.dumps(kept))
        with pytest.raises(UserError, match=reason):
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
