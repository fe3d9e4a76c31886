"""The weights that come with the package: they fit their methods and say how they were made."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from pacbench.cli import app
from pacbench.data.base import Sample
from pacbench.method import Context, LearnableMethod, methods
from pacbench.train.checkpoint import read_log
from pacbench.train.weights import packaged_weights, sha256_of

OF_CRFS = {name: path for name, path in packaged_weights().items() if name.startswith("crf/")}


@pytest.mark.parametrize("name", OF_CRFS)
def test_weights_of_crfs_fit_and_have_their_papers(name: str) -> None:
    path: Path = OF_CRFS[name]
    about = json.loads(path.with_name("training.json").read_text())
    cell = about["cell"]
    sample = Sample(
        name="a",
        image=np.zeros((3, 4, 5), dtype=np.uint8),
        unary=np.zeros((21, 4, 5), dtype=np.float32),
    )
    cls = methods[cell["method"]]
    params = cls.Params(**{**cell["params"], "weights": name})
    method = cls(params, Context("cpu", "reference", 1, 0, sample))
    assert isinstance(method, LearnableMethod)
    assert method.weights_sha256 == sha256_of(path)
    scores = [float(row["score"]) for row in read_log(path.with_name("log.csv"))]
    assert max(scores) == about["best_score"] > scores[0]
    assert about["command"].startswith("pacbench train suites/crf.yaml")


def test_weights_are_listed() -> None:
    result = CliRunner().invoke(app, ["weights", "list"])
    assert result.exit_code == 0, result.output
    for name, path in OF_CRFS.items():
        (line,) = [line for line in result.output.splitlines() if line.startswith(f"{name} ")]
        assert sha256_of(path)[:12] in line
