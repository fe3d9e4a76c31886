"""The weights that come with the package: they fit their methods and say how they were made."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from pacbench.cli import app
from pacbench.data.base import Sample
from pacbench.method import LearnableMethod, methods
from pacbench.suite.cells import Cell
from pacbench.train.checkpoint import read_log
from pacbench.train.weights import packaged_weights, sha256_of

PACKAGED = packaged_weights()


@pytest.fixture(scope="module")
def sample() -> Sample:
    """What every task may ask for."""
    return Sample(
        name="a",
        image=np.zeros((3, 32, 48), dtype=np.uint8),
        unary=np.zeros((21, 32, 48), dtype=np.float32),
        labels=np.zeros((32, 48), dtype=np.uint8),
        depth=np.ones((32, 48), dtype=np.float32),
        flow=np.zeros((2, 32, 48), dtype=np.float32),
    )


@pytest.mark.parametrize("name", PACKAGED)
def test_weights_fit_and_have_their_papers(name: str, sample: Sample) -> None:
    path: Path = PACKAGED[name]
    about = json.loads(path.with_name("training.json").read_text())
    cell = Cell.model_validate(about["cell"])
    cls = methods[cell.method]
    params = cls.Params(**{**cell.params, "weights": name})
    method = cls(params, cell.context(sample))
    assert isinstance(method, LearnableMethod)
    assert method.weights_sha256 == sha256_of(path)
    scores = [float(row["score"]) for row in read_log(path.with_name("log.csv"))]
    if about["training"].get("keep") == "last":
        assert about["last_score"] == scores[-1]
    else:
        assert max(scores) == about["best_score"] > scores[0]
    assert about["command"].startswith(f"pacbench train suites/{name.split('/')[0]}.yaml")


def test_weights_are_listed() -> None:
    result = CliRunner().invoke(app, ["weights", "list"])
    assert result.exit_code == 0, result.output
    for name, path in PACKAGED.items():
        (line,) = [line for line in result.output.splitlines() if line.startswith(f"{name} ")]
        assert sha256_of(path)[:12] in line
