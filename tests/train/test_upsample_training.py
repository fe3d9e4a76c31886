"""Trainings of upsampling networks: one of many, killed and resumed, in two precisions."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from killed_training import whole_and_killed
from torch import Tensor, nn
from typer.testing import CliRunner

from pacbench import session
from pacbench.cli import app
from pacbench.pac import PacJointUpsampleLite
from pacbench.train.checkpoint import load, read_log
from pacbench.train.job import run_training
from pacbench.train.learning import Learning
from pacbench.train.samples import open_samples
from pacbench.train.spec import TrainingSpec
from pacbench.train.trainer import train
from pacbench.train.upsample import UpsampleLearning

SUITE: dict[str, Any] = {
    "name": "small",
    "task": "upsample",
    "protocol": {"target": "depth"},
    "data": {"name": "scenes", "split": "test", "params": {"size": [32, 40], "unary": None}},
    "methods": [{"name": "bilinear"}, {"name": "djf"}, {"name": "pac_lite"}],
    "sweep": {"factor": [4, 8]},
    "threads": 1,
    "training": {
        "params": {"count": 3},
        "iterations": 6,
        "validate_every": 2,
        "validation_samples": 1,
        "crop": [24, 32],
        "batch": 1,
        "texture": 0.5,
        "averaging": 0.9,
    },
}
LITE = {"method": "pac_lite", "factor": "4"}


def written(folder: Path, **changes: Any) -> Path:
    path = folder / "suite.yaml"
    path.write_text(yaml.safe_dump(SUITE | changes))
    return path


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[k], other[k]) for k in one)


def test_the_command_trains_one_network_at_one_factor(tmp_path: Path) -> None:
    command = ["train", str(written(tmp_path)), "--method", "djf", "--factor", "8"]
    result = CliRunner().invoke(app, [*command, "--out", str(tmp_path), "--quiet"])
    assert result.exit_code == 0, result.output
    (folder,) = (tmp_path / "small").iterdir()
    assert folder.name == "djf-factor-8"
    best = min(-float(row["score"]) for row in read_log(folder / "log.csv"))
    assert f"DJF factor=8 [torch, cpu]: best validation RMSE {best:.2f} cm, in " in result.output
    about = json.loads((folder / "training.json").read_text())
    assert about["command"].endswith("--method djf --factor 8")
    assert about["samples"] == {"training": 3, "validation": 20, "held_out_of_training": False}


def test_a_killed_training_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    suite = written(tmp_path, methods=[{"name": "pac_lite"}], sweep={"factor": [4]})
    whole, killed = whole_and_killed(suite, tmp_path, "small/pac-lite-factor-4")
    assert same(load(whole / "weights.pt"), load(killed / "weights.pt"))
    one, other = (load(folder / "checkpoint.pt") for folder in (whole, killed))
    assert same(one["module"], other["module"])
    assert (whole / "log.csv").read_text() == (killed / "log.csv").read_text()


def trained(folder: Path, precise: bool) -> dict[str, Any]:
    """The last weights of a training on the CPU."""
    (cell,) = session.plan(str(written(folder)), only=LITE, threads=1).cells
    spec = TrainingSpec(**SUITE["training"], mixed_precision=not precise)
    made, _ = run_training(cell, spec, folder / str(precise), "command", quiet=True)
    return load(made / "checkpoint.pt")["module"]


def test_a_cpu_computes_in_one_precision(tmp_path: Path) -> None:
    assert same(trained(tmp_path, precise=True), trained(tmp_path, precise=False))


class OnCuda(Learning):
    """Claims to be on CUDA, and sees in which type the first convolution computes."""

    device = "cuda"

    def __init__(self, real: Learning) -> None:
        self.real = real
        self.types: set[torch.dtype] = set()

    def batch(self, number: int, progress: float = 0.0) -> Any:
        return self.real.batch(number, progress)

    def loss(self, module: nn.Module, batch: Any) -> Tensor:
        convolution = module.get_submodule("branch_t.conv1")
        seen = convolution.register_forward_hook(lambda *given: self.types.add(given[2].dtype))
        try:
            return self.real.loss(module, batch)
        finally:
            seen.remove()

    def validate(self, module: nn.Module) -> float:
        return self.real.validate(module)


@pytest.mark.parametrize("mixed", [True, False])
def test_cuda_computes_in_mixed_precision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mixed: bool
) -> None:
    """With the CPU's autocast in the place of CUDA's."""
    real = torch.autocast
    monkeypatch.setattr(
        torch, "autocast", lambda _, dtype=None, enabled=True: real("cpu", dtype, enabled=enabled)
    )
    (cell,) = session.plan(str(written(tmp_path)), only=LITE).cells
    spec = TrainingSpec(**SUITE["training"], mixed_precision=mixed)
    training, validation = open_samples(cell.data, spec, cell.seed)
    learning = OnCuda(UpsampleLearning(training, validation, spec, cell))
    module = PacJointUpsampleLite(4)
    train(module, learning, spec, tmp_path / "out", quiet=True)
    assert learning.types == {torch.bfloat16 if mixed else torch.float32}
    assert {parameter.dtype for parameter in module.parameters()} == {torch.float32}
    rows = read_log(tmp_path / "out" / "log.csv")
    assert all(math.isfinite(float(row["loss"])) for row in rows[1:])
