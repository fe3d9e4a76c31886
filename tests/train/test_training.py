"""Training: learns, is resumed to the same weights, says what it did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from killed_training import whole_and_killed
from pydantic import ValidationError

from pacbench import session
from pacbench.errors import UserError
from pacbench.suite import Cell, load_suite
from pacbench.train.checkpoint import load, read_log, save
from pacbench.train.crf import CRFLearning
from pacbench.train.job import learnable, run_training, slug
from pacbench.train.learning import Learning
from pacbench.train.optimiser import adam_for, set_step
from pacbench.train.spec import TrainingSpec
from pacbench.train.trainer import _running_mean, train
from pacbench.train.weights import load_weights

TRAINING = {
    "iterations": 6,
    "validate_every": 2,
    "validation_samples": 1,
    "crop": [24, 32],
    "learning_rate": 0.05,
}


KEEP = ("best", "last")


def suite_text(**changes: Any) -> str:
    suite = {
        "name": "small",
        "task": "crf",
        "data": {"name": "scenes", "params": {"size": [32, 40], "count": 3}},
        "methods": [
            {"name": "unary"},
            {"name": "pac_crf", "params": {"dilations": [2], "kernel_size": 3, "steps": 2}},
        ],
        "threads": 1,
        "training": TRAINING,
        **changes,
    }
    return yaml.safe_dump(suite)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "suite.yaml"
    path.write_text(suite_text())
    return path


@pytest.fixture
def cell(suite: Path) -> Cell:
    planned = session.plan(str(suite))
    (cell,) = learnable(planned.source.suite, planned.cells)
    return cell


def run(cell: Cell, folder: Path, **changes: Any) -> tuple[Path, float]:
    return run_training(
        cell, TrainingSpec(**{**TRAINING, **changes}), folder, "command", quiet=True
    )


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[k], other[k]) for k in one)


def test_training_lowers_the_loss_and_keeps_its_papers(cell: Cell, tmp_path: Path) -> None:
    folder, best = run(cell, tmp_path / "out", iterations=40, validate_every=10)
    log = read_log(folder / "log.csv")
    assert [int(row["iteration"]) for row in log] == [0, 10, 20, 30, 40]
    assert float(log[-1]["loss"]) < float(log[1]["loss"])
    assert best == max(float(row["score"]) for row in log)
    about = json.loads((folder / "training.json").read_text())
    assert about["best_score"] == best
    assert (folder / "log.png").stat().st_size > 0
    assert about["command"] == "command"
    assert about["training"]["iterations"] == 40
    assert about["cell"]["params"]["dilations"] == [2]


def test_the_last_weights_are_kept_where_that_is_wanted(cell: Cell, tmp_path: Path) -> None:
    """By steps that are far too large, so that the first are the best."""
    best, last = (run(cell, tmp_path / keep, learning_rate=30.0, keep=keep) for keep in KEEP)
    assert best[1] > last[1] == float(read_log(last[0] / "log.csv")[-1]["score"])
    final = load(last[0] / "checkpoint.pt")["module"]
    assert same(load(last[0] / "weights.pt"), final)
    assert not same(load(best[0] / "weights.pt"), final)
    assert json.loads((last[0] / "training.json").read_text())["last_score"] == last[1]


class StopsAt:
    """A loss that stops the training before a step, as Ctrl-C would."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
        self.seen, self.step, self.real = 0, step, CRFLearning.loss
        monkeypatch.setattr(CRFLearning, "loss", lambda *arguments: self.loss(*arguments))

    def loss(self, *arguments: Any) -> torch.Tensor:
        if self.seen == self.step:
            self.seen += 1
            raise KeyboardInterrupt
        self.seen += 1
        return self.real(*arguments)


@pytest.mark.parametrize("averaging", [None, 0.9])
def test_a_stopped_training_goes_on_to_the_same_weights(
    cell: Cell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, averaging: float | None
) -> None:
    whole, _ = run(cell, tmp_path / "whole", averaging=averaging)
    StopsAt(monkeypatch, 3)
    with pytest.raises(KeyboardInterrupt):
        run(cell, tmp_path / "parts", averaging=averaging)
    assert load(tmp_path / "parts" / slug(cell) / "checkpoint.pt")["iteration"] == 2
    resumed, _ = run(cell, tmp_path / "parts", averaging=averaging)
    last, again = (load(folder / "checkpoint.pt") for folder in (whole, resumed))
    assert same(last["module"], again["module"])
    assert same(load(whole / "weights.pt"), load(resumed / "weights.pt"))
    assert (whole / "log.csv").read_text() == (resumed / "log.csv").read_text()
    if averaging:
        key = "crf.messengers.0.weight"
        assert same(last["averaged"], again["averaged"])
        assert not torch.equal(last["module"][key], last["averaged"][f"module.{key}"])


def test_a_training_goes_on_only_as_it_began(cell: Cell, tmp_path: Path) -> None:
    folder, _ = run(cell, tmp_path)
    before = (folder / "training.json").read_text()
    with pytest.raises(UserError, match=r"training.learning_rate was 0.05, is 0.5; .* --out"):
        run(cell, tmp_path, learning_rate=0.5)
    with pytest.raises(UserError, match="seed was 0, is 5"):
        run(cell.model_copy(update={"seed": 5}), tmp_path)
    assert (folder / "training.json").read_text() == before
    about = json.loads(before)
    del about["training"]["candidates"], about["cell"]["params"]["rgb_scale"]
    (folder / "training.json").write_text(json.dumps(about))  # as of a version without them
    run(cell, tmp_path)
    with pytest.raises(UserError, match=r"training\.candidates was 1, is 2"):
        run(cell, tmp_path, candidates=2)
    with_weights = {**cell.params, "weights": "made/of/it"}
    run(cell.model_copy(update={"params": with_weights, "pictures": 3}), tmp_path)


def test_a_running_mean_forgets_its_first_steps() -> None:
    mean, update = torch.tensor(0.0), _running_mean(0.9)
    for step in range(200):
        mean = update(mean, torch.tensor(float(step)), step)
    assert mean.item() == pytest.approx(199 - 9, abs=0.01)  # the lag of an exponential mean
    assert update(torch.tensor(0.0), torch.tensor(1.0), 0).item() == pytest.approx(0.9)


def test_a_killed_training_goes_on_to_the_same_weights(suite: Path, tmp_path: Path) -> None:
    whole, killed = whole_and_killed(suite, tmp_path, "small/pac-crf")
    assert same(load(whole / "weights.pt"), load(killed / "weights.pt"))


def test_early_stop(cell: Cell, tmp_path: Path) -> None:
    folder, _ = run(
        cell, tmp_path / "out", iterations=40, learning_rate=1e-12, patience=2, validate_every=1
    )
    assert [int(row["iteration"]) for row in read_log(folder / "log.csv")] == [0, 1, 2]


def test_learning_rate_falls_at_the_milestones() -> None:
    spec = TrainingSpec(iterations=10, learning_rate=1.0, milestones=[0.5, 0.9])
    rates = [spec.learning_rate_at(i) for i in range(10)]
    assert rates == pytest.approx([1.0] * 5 + [0.1] * 4 + [0.01])


def test_a_budget_shortens_the_schedule() -> None:
    spec = TrainingSpec(iterations=1000, budget=0.01, learning_rate=1.0, milestones=[0.5])
    assert spec.steps == 10
    assert [spec.learning_rate_at(i) for i in (4, 5)] == pytest.approx([1.0, 0.1])


def test_a_method_has_keys_of_its_own() -> None:
    spec = TrainingSpec(methods={"pac_crf": {"batch": 3}, "PAC-CRF, 32": {"iterations": 7}})
    own = spec.for_method("pac_crf", "PAC-CRF, 32")
    assert (own.batch, own.iterations) == (3, 7)
    assert spec.for_method("conv_crf", "Conv-CRF").batch == TrainingSpec().batch
    with pytest.raises(ValidationError, match="batches"):
        TrainingSpec(methods={"pac_crf": {"batches": 3}})


def test_a_frozen_part_learns_after_its_share(cell: Cell, tmp_path: Path) -> None:
    changes: dict[str, Any] = {"frozen": {"crf.messengers": 0.5}, "milestones": []}
    first, _ = run(cell, tmp_path / "first", **changes, iterations=3, budget=2.0, validate_every=3)
    log = read_log(first / "log.csv")
    assert [row["iteration"] for row in log] == ["0", "3", "6"]
    frozen, _ = run(cell, tmp_path / "frozen", frozen={"crf.messengers": 0.99}, iterations=3)
    key = "crf.messengers.0.weight"
    start = load(frozen / "checkpoint.pt")["module"]
    learned = load(first / "checkpoint.pt")["module"]
    assert not torch.equal(start["feat_scales.0"], torch.full((3,), 30.0))
    assert not torch.equal(start[key], learned[key])
    with pytest.raises(
        UserError, match=r"frozen.crf.messenger: .* \(did you mean 'crf.messengers'"
    ):
        run(cell, tmp_path / "none", frozen={"crf.messenger": 0.5})


def test_large_weights_move_in_proportion() -> None:
    module = torch.nn.ParameterDict({"small": torch.ones(2) / 2, "large": torch.full((2,), 30.0)})
    optimiser = adam_for(module)
    set_step(optimiser, TrainingSpec(learning_rate=0.1), step=0)
    sum(p.sum() for p in module.values()).backward()
    optimiser.step()
    assert module["small"].tolist() == pytest.approx([0.4, 0.4])
    assert module["large"].tolist() == pytest.approx([27.0, 27.0])


def test_trained_weights_are_used_by_a_suite(cell: Cell, suite: Path, tmp_path: Path) -> None:
    folder, _ = run(cell, tmp_path / "out")
    source = load_suite(str(suite), [f"methods.1.params.weights={folder / 'weights.pt'}"])
    (trained,) = source.cells("cpu", 1, {"method": "pac_crf"})
    assert trained.params["weights"] == str(folder / "weights.pt")
    assert trained.id != cell.id


class Diverges(Learning):
    """A loss that is not finite from the third step on."""

    def __init__(self) -> None:
        self.device = "cpu"

    def batch(self, number: int, progress: float = 0.0) -> float:
        return float("inf") if number == 2 else 1.0

    def loss(self, module: torch.nn.Module, batch: float) -> torch.Tensor:
        return batch * sum(p.square().sum() for p in module.parameters())

    def validate(self, module: torch.nn.Module) -> float:
        return 0.0


def test_a_loss_that_is_not_finite_stops_the_training(tmp_path: Path) -> None:
    module, spec = torch.nn.Linear(2, 2), TrainingSpec(iterations=5, validate_every=1)
    with pytest.raises(UserError, match="step 2: the loss is inf; lower `learning_rate`"):
        train(module, Diverges(), spec, tmp_path, quiet=True)
    assert load(tmp_path / "checkpoint.pt")["iteration"] == 2  # what was good is kept


def test_mistakes_are_told(suite: Path) -> None:
    planned = session.plan(str(suite))
    with pytest.raises(UserError, match="learnable methods: "):
        learnable(planned.source.suite, planned.cells[:1])
    suite.write_text(suite_text(training=None))
    untrained = session.plan(str(suite))
    with pytest.raises(UserError, match="has no `training:`"):
        learnable(untrained.source.suite, untrained.cells)


def test_weights_that_do_not_fit(tmp_path: Path) -> None:
    module = torch.nn.Linear(2, 2)
    with pytest.raises(UserError, match="no such file, and none of that name"):
        load_weights(module, str(tmp_path / "absent.pt"))
    save(tmp_path / "other.pt", torch.nn.Linear(3, 2).state_dict())
    with pytest.raises(UserError, match="do not fit this method: size mismatch"):
        load_weights(module, str(tmp_path / "other.pt"))
    (tmp_path / "garbage.pt").write_bytes(b"garbage")
    with pytest.raises(UserError, match=r"garbage\.pt: "):
        load_weights(module, str(tmp_path / "garbage.pt"))


def test_a_checkpoint_of_another_method(cell: Cell, tmp_path: Path) -> None:
    folder = tmp_path / "out" / slug(cell)
    folder.mkdir(parents=True)
    save(folder / "checkpoint.pt", {"module": {}, "optimizer": {}})
    with pytest.raises(UserError, match="is not a checkpoint of this method"):
        run(cell, tmp_path / "out")
