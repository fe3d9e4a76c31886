"""FCN-8s and PAC-FCN in the harness: built from suites, run, trained, with CRFs on top."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from torch import nn

from pacbench.data.base import datasets
from pacbench.errors import UserError
from pacbench.method import Context, LearnableMethod, Method, methods
from pacbench.pac import PacConv2d
from pacbench.suite.cells import Cell
from pacbench.suite.load import load_suite
from pacbench.tasks import tasks
from pacbench.tasks.hotswap import HotswapProtocol
from pacbench.train.job import run_training
from pacbench.train.spec import TrainingSpec
from pacbench.train.weights import sha256_of

TINY: dict[str, Any] = {"size": [48, 64], "count": 2, "unary": None}

pytestmark = pytest.mark.usefixtures("one_thread")


def sample() -> Any:
    cls = datasets["scenes"]
    return cls(cls.Params(**TINY), split="test", seed=0)[0]


def build(name: str, **params: Any) -> Method:
    torch.manual_seed(0)
    cls = methods[name]
    context = Context("cpu", "reference", 1, 0, sample(), HotswapProtocol())
    return cls(cls.Params(**params), context)


def output_of(method: Method) -> np.ndarray[Any, Any]:
    with torch.inference_mode():
        return method.finish(method.run(method.prepare(sample())))


def random_scores(method: Method) -> Method:
    """A network's scores start at 0, which a CRF leaves as they are."""
    assert isinstance(method, LearnableMethod)
    torch.manual_seed(0)
    backbone = getattr(method.module, "backbone", method.module)
    nn.init.normal_(backbone.score_pool3.weight, std=0.1)
    return method


@pytest.mark.parametrize("name", ["fcn8s", "pac_fcn"])
@pytest.mark.parametrize("crf", [None, "full_crf", "conv_crf", "pac_crf"])
def test_runs_alone_and_with_a_crf_on_top(name: str, crf: str | None) -> None:
    on_top = {} if crf is None else {"crf": {"name": crf, "params": {"steps": 1}}}
    output = output_of(random_scores(build(name, **on_top)))
    assert output.shape == (21, 48, 64)
    alone = output_of(random_scores(build(name)))
    assert np.array_equal(output, alone) == (crf is None)


def test_a_crf_that_learns_is_part_of_the_module() -> None:
    crf = {"name": "pac_crf", "params": {"dilations": [2]}}
    method = build("pac_fcn", crf=crf, layers=["conv5_*"], guide="pool1")
    assert isinstance(method, LearnableMethod)
    assert {name.split(".")[0] for name, _ in method.module.named_parameters()} == {
        "backbone",
        "crf",
    }
    swapped = [n for n, m in method.module.named_modules() if isinstance(m, PacConv2d)]
    assert swapped[:3] == [f"backbone.conv5_{i}" for i in (1, 2, 3)]


@pytest.mark.parametrize("name", ["fcn8s", "pac_fcn"])
def test_begins_with_weights_of_the_network_or_of_both(name: str, tmp_path: Path) -> None:
    plain = random_scores(build("fcn8s"))
    torch.save(plain.module.state_dict(), tmp_path / "network.pt")
    crf = {"name": "pac_crf", "params": {"dilations": [2], "steps": 1}}
    both = build(name, start=str(tmp_path / "network.pt"), crf=crf)
    torch.save(both.module.state_dict(), tmp_path / "both.pt")
    again = build(name, weights=str(tmp_path / "both.pt"), start="nothing", crf=crf)
    assert np.array_equal(output_of(both), output_of(again))
    weight = plain.module.score_pool3.weight
    assert torch.equal(again.module.backbone.score_pool3.weight, weight)
    assert both.weights_sha256 == sha256_of(tmp_path / "network.pt")
    assert again.weights_sha256 == sha256_of(tmp_path / "both.pt")
    assert plain.weights_sha256 is None


def test_weights_of_the_network_and_of_its_crf_can_come_from_two_files(tmp_path: Path) -> None:
    """As `pacbench weights import` writes them for a network with its CRF."""
    crf = {"dilations": [2], "steps": 1, "rgb_scale": 12.0}
    trained = random_scores(build("fcn8s", crf={"name": "pac_crf", "params": crf}))
    files = {name: str(tmp_path / f"{name}.pt") for name in ("backbone", "crf")}
    for name, file in files.items():
        torch.save(trained.module.get_submodule(name).state_dict(), file)
    crf = {**crf, "rgb_scale": 30.0, "weights": files["crf"]}
    again = build("fcn8s", weights=files["backbone"], crf={"name": "pac_crf", "params": crf})
    assert np.array_equal(output_of(trained), output_of(again))


def test_says_which_crfs_there_are() -> None:
    with pytest.raises(ValidationError, match=r"'pac_crv' is no CRF .did you mean 'pac_crf'"):
        methods["fcn8s"].Params(crf={"name": "pac_crv"})
    with pytest.raises(ValidationError, match="'fcn8s' is no CRF"):
        methods["fcn8s"].Params(crf={"name": "fcn8s"})
    with pytest.raises(ValidationError, match="dilation"):
        methods["fcn8s"].Params(crf={"name": "pac_crf", "params": {"dilation": 3}})


def test_weights_of_another_width_do_not_fit(tmp_path: Path) -> None:
    torch.save(build("fcn8s").module.state_dict(), tmp_path / "slim.pt")
    with pytest.raises(UserError, match="do not fit"):
        build("fcn8s", width=0.25, weights=str(tmp_path / "slim.pt"))


def test_task_scores_by_the_classes_of_the_protocol() -> None:
    task = tasks["hotswap"](sample(), HotswapProtocol())
    scores = np.eye(21, dtype=np.float32)[sample().labels].transpose(2, 0, 1)
    task.score(scores, sample())
    assert task.summary()["miou"] == 1.0
    assert set(task.pictures(scores, sample())) == {"image", "truth", "output"}


def test_suites_are_valid() -> None:
    for name in ("hotswap", "hotswap_ablation"):
        cells = load_suite(name).cells("cpu", 1, {})
        assert len(cells) > 3
        assert {cell.task for cell in cells} == {"hotswap"}


@pytest.mark.parametrize("label", ["PAC-FCN", "PAC-FCN + PAC-CRF, 16-64"])
def test_trains(label: str, tmp_path: Path) -> None:
    overrides = ["sweep.backend=[reference]", "data.params.size=[48, 64]", "data.params.count=2"]
    source = load_suite("hotswap", overrides)
    (cell,) = source.cells("cpu", 1, {"label": label})
    params = {**cell.params, "start": None, "weights": None}
    cell = Cell(**{**cell.model_dump(), "params": params})
    assert source.suite.training is not None
    quick = {"params": {"count": 2}, "crop": [64, 64], "iterations": 2, "validate_every": 1}
    spec = TrainingSpec(**{**source.suite.training.model_dump(), **quick, "methods": {}})
    folder, best = run_training(cell, spec, tmp_path, "pacbench train", quiet=True)
    assert 0 < best < 1
    state = torch.load(folder / "weights.pt", weights_only=True)
    assert any(key.startswith("crf.") for key in state) == ("CRF" in label)
