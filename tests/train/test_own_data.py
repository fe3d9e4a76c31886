"""Suites on other data by one line: what they train, tune and run on, and hold out."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import yaml
from PIL import Image
from typer.testing import CliRunner

from pacbench.cli import app
from pacbench.data.base import datasets
from pacbench.errors import UserError
from pacbench.store import RunFolder
from pacbench.suite.schema import DataSpec
from pacbench.train.samples import Part, open_samples
from pacbench.train.spec import TrainingSpec

COUNTS = {"train": 3, "val": 2, "test": 1}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folder: images and depth, as large as the crops that suites train on."""
    root, scenes = tmp_path_factory.mktemp("own"), datasets["scenes"]
    params = scenes.Params(size=(128, 160), unary=None)
    for split, count in COUNTS.items():
        for kind in ("images", "depth"):
            (root / split / kind).mkdir(parents=True)
        for index in range(count):
            sample = scenes(params, split=split, seed=0)[index]
            Image.fromarray(sample.image.transpose(1, 2, 0)).save(
                root / split / "images" / f"{sample.name}.png"
            )
            np.save(root / split / "depth" / f"{sample.name}.npy", sample.depth)
    return root


def line_for(root: Path, **changes: Any) -> str:
    """The one line that is set for a folder."""
    params = {"root": str(root), "depth": "depth"} | changes
    data = {"name": "folder", "split": "test", "params": params}
    return f"--set=data={yaml.safe_dump(data, default_flow_style=True, width=1000).strip()}"


def invoke(*command: str) -> str:
    result = CliRunner().invoke(app, [*command, "--threads", "1"])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_a_suite_trains_on_a_folder(own: Path, tmp_path: Path) -> None:
    output = invoke(
        "train", "upsample_depth", "--method", "pac_lite", "--factor", "4", line_for(own),
        "--set=training.budget=0.0000004", "--out", str(tmp_path), "--quiet",
    )  # fmt: skip
    assert "last validation RMSE" in output
    (folder,) = (tmp_path / "upsample_depth").iterdir()
    about = json.loads((folder / "training.json").read_text())
    assert about["training"]["params"] == {"count": 120}  # of the scenes that the suite came with
    assert about["samples"] == {"training": 3, "validation": 2, "held_out_of_training": False}


def test_a_suite_tunes_on_a_folder(own: Path, tmp_path: Path) -> None:
    output = invoke(
        "tune", "upsample_depth", "--method", "gf", "--factor", "4", line_for(own),
        "--set=tuning.rounds=0", "--out", str(tmp_path), "--quiet",
    )  # fmt: skip
    assert "cm, best of 6 points" in output
    assert "params: {radius:" in output


def test_a_suite_runs_on_a_folder(own: Path, tmp_path: Path) -> None:
    invoke(
        "run", "upsample_depth", "--filter=method=bilinear", "--filter=factor=4", line_for(own),
        "--set=repeats=1", "--set=timing={budget_seconds: 0, processes: 1}",
        "--set=outputs={tables: [], figures: [], pictures: 0}", "--out", str(tmp_path), "--quiet",
    )  # fmt: skip
    (folder,) = tmp_path.iterdir()
    (record,) = RunFolder(folder).records()[0]
    assert record.metrics["rmse_cm"] > 0
    assert [image.name for image in record.images] == ["test-0-00000"]


def test_what_a_folder_lacks_is_told(own: Path, tmp_path: Path) -> None:
    command = ("train", "upsample_depth", "--method", "pac_lite", "--factor", "4")
    quick = ("--set=training.budget=0.0000002", "--out", str(tmp_path / "out"), "--quiet")
    with pytest.raises(UserError, match=r"cannot be trained on 'folder': sample .* has no depth"):
        invoke(*command, line_for(own, depth=None), *quick)
    with pytest.raises(UserError, match=r"cannot be trained on 'folder': crop is 256×128, but"):
        invoke(*command, line_for(own), "--set=training.crop=[256, 128]", *quick)
    with pytest.raises(UserError, match=r"split 'train': sample .* has no depth to upsample; see"):
        invoke("tune", "upsample_depth", "--method", "gf", line_for(own, depth=None))
    for split in ("train", "test"):
        (tmp_path / "two" / split).parent.mkdir(exist_ok=True)
        (tmp_path / "two" / split).symlink_to(own / split)
    without = line_for(tmp_path / "two")
    with pytest.raises(UserError, match=r"no folder 'val'.* `--set training.validation_split=trai"):
        invoke(*command, without, *quick)
    invoke(*command, without, "--set=training.validation_split=train", *quick)
    (folder,) = (tmp_path / "out" / "upsample_depth").iterdir()
    about = json.loads((folder / "training.json").read_text())
    assert about["samples"] == {"training": 2, "validation": 1, "held_out_of_training": True}


def scenes_spec(count: int, split: str = "test") -> DataSpec:
    return DataSpec(name="scenes", split=split, params={"count": count, "size": [8, 8]})


def test_validation_is_never_what_is_reported_on() -> None:
    training, validation = open_samples(scenes_spec(20), TrainingSpec(), seed=0)
    assert (len(training), validation[0].name) == (20, "val-0-00000")
    data = scenes_spec(30, split="val")
    training, validation = open_samples(data, TrainingSpec(), seed=0)
    assert isinstance(training, Part)
    assert isinstance(validation, Part)
    assert list(training.indices) == list(range(27))
    assert sorted(validation.indices) == [27, 28, 29]
    assert validation[0].name == f"train-0-{validation.indices[0]:05d}"
    again = open_samples(data, TrainingSpec(), seed=0)[1]
    assert isinstance(again, Part)
    assert again.indices == validation.indices
    with pytest.raises(UserError, match="split 'train': has 1 samples, and none to hold out"):
        open_samples(scenes_spec(1, split="val"), TrainingSpec(), seed=0)


def test_parameters_of_other_data_are_left_out_and_mistakes_are_not() -> None:
    data = scenes_spec(5)
    spec = TrainingSpec(params={"count": 7, "depth_scale": 0.001})
    assert len(open_samples(data, spec, seed=0)[0]) == 7
    with pytest.raises(UserError, match=r"training\.params\.cuont: unknown key .*'count'"):
        open_samples(data, TrainingSpec(params={"cuont": 7}), seed=0)
    with pytest.raises(UserError, match=r"training\.params\.count: got 0; should be"):
        open_samples(data, TrainingSpec(params={"count": 0}), seed=0)


def test_nyu_keeps_the_end_of_its_training_range(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "nyu_depth_v2_labeled.mat", "w") as file:
        file["images"] = np.zeros((1449, 3, 4, 3), np.uint8)
        file["depths"] = np.ones((1449, 4, 3), np.float32)
    params: dict[str, Any] = {"root": str(tmp_path)}
    spec = TrainingSpec(params={"count": 120})
    training, validation = open_samples(
        DataSpec(name="nyu", split="test", params=params), spec, seed=0
    )
    assert [sample.name for sample in (training[0], training[899])] == ["0000", "0899"]
    assert sorted(validation[i].name for i in range(100)) == [f"{i:04d}" for i in range(900, 1000)]
    own = DataSpec(name="nyu", split="test", params=params | {"val": 50})
    assert [len(part) for part in open_samples(own, spec, seed=0)] == [950, 50]


def test_sintel_is_not_validated_on_what_is_reported(tmp_path: Path) -> None:
    for sequence, pairs in (("alley_1", 18), ("ambush_6", 3), ("temple_3", 2)):
        for kind in ("clean", "flow"):
            (tmp_path / "training" / kind / sequence).mkdir(parents=True)
        for number in range(1, pairs + 1):
            stem = f"{sequence}/frame_{number:04d}"
            Image.new("RGB", (3, 2)).save(tmp_path / "training" / "clean" / f"{stem}.png")
            flow = struct.pack("<fii", 202021.25, 3, 2) + np.zeros((2, 3, 2), "<f4").tobytes()
            (tmp_path / "training" / "flow" / f"{stem}.flo").write_bytes(flow)
    data = DataSpec(name="sintel", split="val", params={"root": str(tmp_path)})
    training, validation = open_samples(data, TrainingSpec(), seed=0)
    assert {training[i].name[:7] for i in range(len(training))} == {"alley_1"}
    assert {validation[i].name for i in range(len(validation))} == {
        "temple_3-frame_0001",
        "temple_3-frame_0002",
    }
