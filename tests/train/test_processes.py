"""A training on two processes is the training on both their batches."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml

from pacbench import session
from pacbench.train.checkpoint import load, read_log
from pacbench.train.crf import Batch, CRFLearning
from pacbench.train.job import run_training
from pacbench.train.learning import learnings

SUITE = {
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


class BothBatches(CRFLearning):
    """What two processes see in a step, as one batch."""

    def batch(self, number: int) -> Batch:
        one, other = super().batch(2 * number), super().batch(2 * number + 1)
        unary, image, labels = (torch.cat(pair) for pair in zip(one, other, strict=True))
        return unary, image, labels


def test_two_processes_learn_what_one_learns_from_both_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_text(yaml.safe_dump(SUITE))
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    command = ["-m", "pacbench", "train", str(suite), "--out", str(tmp_path), "--quiet"]
    run = subprocess.run([*torchrun, *command], capture_output=True, text=True, timeout=240)
    assert run.returncode == 0, run.stderr
    shared = tmp_path / "small" / "pac-crf"
    assert json.loads((shared / "training.json").read_text())["processes"] == 2
    assert [row["iteration"] for row in read_log(shared / "log.csv")] == ["0", "2", "4"]

    monkeypatch.setitem(learnings._classes, "crf", BothBatches)
    planned = session.plan(str(suite))
    assert planned.source.suite.training is not None
    alone, _ = run_training(
        planned.cells[0], planned.source.suite.training, tmp_path / "alone", "command", quiet=True
    )
    one, two = (load(folder / "checkpoint.pt")["module"] for folder in (alone, shared))
    for key in one:
        torch.testing.assert_close(one[key], two[key], rtol=1e-4, atol=1e-5)
