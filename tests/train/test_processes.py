"""A training on two processes is the training on both their batches."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from pacbench import session
from pacbench.train.checkpoint import load, read_log
from pacbench.train.job import run_training, slug
from pacbench.train.learning import learnings

CRF: dict[str, Any] = {
    "name": "small",
    "task": "crf",
    "data": {"name": "scenes", "params": {"size": [24, 32], "count": 3}},
    "methods": [{"name": "pac_crf", "params": {"dilations": [2], "kernel_size": 3, "steps": 1}}],
    "threads": 1,
    "training": {
        "iterations": 4,
        "validate_every": 2,
        "validation_samples": 1,
        "crop": [16, 16],
        "batch": 1,
        "frozen": {"crf.messengers": 0.5},
    },
}
UPSAMPLE = CRF | {
    "task": "upsample",
    "protocol": {"target": "flow", "mode": "bilinear", "factor": 4},
    "data": {"name": "scenes", "params": {"size": [24, 32], "count": 3, "unary": None}},
    "methods": [{"name": "pac_lite"}],
    "training": {**CRF["training"], "frozen": {}, "averaging": 0.9},
}


def with_both_batches(base: type[Any]) -> type[Any]:
    """What two processes see in a step, as one batch."""

    class BothBatches(base):
        def batch(self, number: int, progress: float = 0.0) -> Any:
            one = super().batch(2 * number, progress)
            other = super().batch(2 * number + 1, progress)
            parts = [torch.cat(pair) for pair in zip(one, other, strict=True)]
            return one._make(parts) if hasattr(one, "_make") else tuple(parts)

    return BothBatches


@pytest.mark.parametrize("content", [CRF, UPSAMPLE], ids=lambda content: content["task"])
def test_two_processes_learn_what_one_learns_from_both_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: dict[str, Any]
) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_text(yaml.safe_dump(content))
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    command = ["-m", "pacbench", "train", str(suite), "--out", str(tmp_path), "--quiet"]
    run = subprocess.run([*torchrun, *command], capture_output=True, text=True, timeout=240)
    assert run.returncode == 0, run.stderr
    planned = session.plan(str(suite))
    (cell,), spec = planned.cells, planned.source.suite.training
    assert spec is not None
    shared = tmp_path / "small" / slug(cell)
    assert json.loads((shared / "training.json").read_text())["processes"] == 2
    assert [row["iteration"] for row in read_log(shared / "log.csv")] == ["0", "2", "4"]

    both = with_both_batches(learnings[cell.task])
    monkeypatch.setitem(learnings._classes, cell.task, both)
    alone, _ = run_training(cell, spec, tmp_path / "alone", "command", quiet=True)
    one, two = (load(folder / "checkpoint.pt")["module"] for folder in (alone, shared))
    for key in one:
        torch.testing.assert_close(one[key], two[key], rtol=1e-4, atol=1e-5)
