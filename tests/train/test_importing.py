"""Weights of the paper's release: told by their keys, converted, used by a method."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from torch import Tensor
from typer.testing import CliRunner

from pacbench.baselines.upsampling.djf import DJF
from pacbench.cli import app
from pacbench.data.base import Sample
from pacbench.errors import UserError
from pacbench.method import Context, LearnableMethod, methods
from pacbench.pac import PacCRF, PacCRFLoose
from pacbench.pac.upsample import PacJointUpsample, PacJointUpsampleLite
from pacbench.store import RunFolder
from pacbench.train.importing import import_file
from pacbench.train.release import import_release
from pacbench.train.weights import sha256_of

SCALES = torch.tensor([10.0, 20.0, 30.0])
LABELS = 3


def crf_file(path: Path, **crf: Any) -> Path:
    """A file as the release saves it where the backbone is frozen; its image channels are BGR."""
    kernels = [{"kernel_size": 5, "dilation": d} for d in (64, 16)]
    module = PacCRF(LABELS, 5, **{"pairwise_kernels": kernels, **crf})
    state = {f"crf.{key}": value for key, value in module.state_dict().items()}
    if "pairwise_kernels" not in crf:
        state |= {f"feat_scales.{index}": SCALES + index for index in range(2)}
    torch.save(state, path)
    return path


def method_of(entry: str) -> LearnableMethod:
    (spec,) = yaml.safe_load(entry)
    sample = Sample(
        name="a",
        image=np.zeros((3, 9, 9), dtype=np.uint8),
        unary=np.zeros((LABELS, 9, 9), dtype=np.float32),
    )
    cls = methods[spec["name"]]
    method = cls(cls.Params(**spec["params"]), Context("cpu", "reference", 1, 0, sample))
    assert isinstance(method, LearnableMethod)
    return method


def test_a_pac_crf_is_imported_and_used(tmp_path: Path) -> None:
    file = crf_file(tmp_path / "crf.pth")
    (entry,) = import_file(file, tmp_path, "paper", {})
    assert yaml.safe_load(entry)[0]["params"]["dilations"] == [64, 16]
    state = method_of(entry).module.state_dict()
    saved: dict[str, Tensor] = torch.load(file, weights_only=True)
    torch.testing.assert_close(state["crf.messengers.1.weight"], saved["crf.messengers.1.weight"])
    assert state["feat_scales.1"].tolist() == [31, 21, 11]  # RGB here
    about = json.loads((tmp_path / "paper" / "pac_crf" / "import.json").read_text())
    assert about["source"] == "crf.pth"
    assert len(about["source_sha256"]) == 64


def test_a_method_names_the_checksum_of_its_weights(tmp_path: Path) -> None:
    (entry,) = import_file(crf_file(tmp_path / "crf.pth"), tmp_path, "paper", {})
    checksum = method_of(entry).weights_sha256
    assert checksum is not None
    assert len(checksum) == 64


def test_a_conv_crf_is_imported_and_used(tmp_path: Path) -> None:
    window = {"kernel_size": 11, "blur": 4, "compat_type": "2d", "spatial_filter": False}
    kernels = [{**window, "pairwise_weight": weight} for weight in (2.0, 0.6)]
    file = crf_file(tmp_path / "conv.pth", pairwise_kernels=kernels, unary_weight=0.8)
    (entry,) = import_file(file, tmp_path, "conv", {})
    module = method_of(entry).module
    saved: dict[str, Tensor] = torch.load(file, weights_only=True)
    torch.testing.assert_close(
        module.state_dict()["crf.compat.1.weight"], saved["crf.compat.1.weight"]
    )
    assert module.state_dict()["rgb_scale"].tolist() == [13, 13, 13]


@pytest.mark.parametrize("factor", [4, 8, 16])
@pytest.mark.parametrize(
    ("network", "name"), [(PacJointUpsample, "pac"), (PacJointUpsampleLite, "pac_lite")]
)
def test_upsampling_networks_are_told_apart(network: Any, name: str, factor: int) -> None:
    (part,) = import_release(network(factor).state_dict())
    assert (part.method, part.protocol) == (name, {"factor": factor})


def imported_by_command(file: Path, out: Path) -> str:
    result = CliRunner().invoke(app, ["weights", "import", str(file), "--out", str(out)])
    assert result.exit_code == 0, result.output
    return result.output


def test_upsampling_networks_are_imported_and_run(tmp_path: Path) -> None:
    torch.save(DJF(4).state_dict(), tmp_path / "djf.pth")
    torch.save(PacJointUpsampleLite(4).state_dict(), tmp_path / "lite.pth")
    djf, lite = (imported_by_command(tmp_path / f"{n}.pth", tmp_path) for n in ("djf", "lite"))
    assert "# the file does not say: the factor; depth or flow" in djf
    assert "# the file does not say: depth or flow" in lite
    entries = yaml.safe_load(djf) + yaml.safe_load(lite)
    weights = [
        entries[0]["params"]["weights"],
        entries[1]["params_at"]["factor"][4]["weights"],
    ]
    assert entries[0] == {
        "name": "djf_ours",
        "params": {"padding": "release", "weights": weights[0]},
    }
    suite = {
        "name": "released",
        "task": "upsample",
        "protocol": {"target": "flow", "mode": "bilinear", "factor": 4},
        "data": {"name": "scenes", "limit": 1, "params": {"size": [24, 32], "unary": None}},
        "methods": entries,
        "repeats": 1,
        "timing": {"budget_seconds": 0, "processes": 1},
        "threads": 1,
        "outputs": {"tables": [], "figures": [], "pictures": 0},
    }
    (tmp_path / "suite.yaml").write_text(yaml.safe_dump(suite))
    result = CliRunner().invoke(
        app, ["run", str(tmp_path / "suite.yaml"), "--out", str(tmp_path / "runs"), "--quiet"]
    )
    assert result.exit_code == 0, result.output
    (folder,) = (tmp_path / "runs").iterdir()
    records, _ = RunFolder(folder).records()
    used = {record.cell.method: record.weights_sha256 for record in records}
    assert used == {
        "djf_ours": sha256_of(Path(weights[0])),
        "pac_lite": sha256_of(Path(weights[1])),
    }


def test_tensors_that_do_not_fit_are_told(tmp_path: Path) -> None:
    wide, narrow = DJF(4).state_dict(), PacJointUpsample(8).state_dict()
    wide["branch_t.0.weight"] = torch.zeros(256, 1, 9, 9)  # as in the release's wide DJF
    del narrow["branch_f.conv2.bias"]
    small = {
        key: value[:16] if key.startswith("branch_t.") else value
        for key, value in PacJointUpsample(2).state_dict().items()
    }
    crf = torch.load(crf_file(tmp_path / "crf.pth"), weights_only=True)
    crf["crf.messengers.0.weight"] = torch.zeros(LABELS, LABELS, 3, 3)
    crf["crf.messengers.1.weight"] = torch.zeros(LABELS, LABELS, 3, 3)
    del crf["crf.unary_weight"]
    for state, message in (
        (
            wide,
            r"keys of DJF \(our impl.\), but does not fit it: size mismatch for branch_t.0.weight",
        ),
        (narrow, r'keys of PAC, but .*: Missing key.* "branch_f.conv2.bias"'),
        (small, r"keys of PAC-lite, but .*: factor is 2; the lite network is made for 4, 8 and 16"),
        (crf, r'keys of PAC-CRF, but .* "crf.unary_weight"'),
    ):
        torch.save(state, tmp_path / "file.pth")
        with pytest.raises(UserError, match=message):
            import_file(tmp_path / "file.pth", tmp_path / "out", "name", {})
    assert not (tmp_path / "out").exists()


def test_a_network_with_its_crf_gives_both(tmp_path: Path) -> None:
    state = torch.load(crf_file(tmp_path / "crf.pth"), weights_only=True)
    state["backbone.conv1_1.weight"] = torch.zeros(64, 3, 3, 3)
    network, crf = import_release(state)
    assert (network.method, list(network.state)) == ("fcn8s", ["conv1_1.weight"])
    assert crf.method == "pac_crf"


def test_what_cannot_be_imported_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"not weights of the paper's release \(first keys: weight"):
        import_release(torch.nn.Linear(1, 1).state_dict())
    loose = PacCRFLoose(LABELS, 2, pairwise_kernels={"kernel_size": 3})
    with pytest.raises(UserError, match="PacCRFLoose loads its keys"):
        import_release({f"crf.{key}": value for key, value in loose.state_dict().items()})
    potts = crf_file(tmp_path / "potts.pth", pairwise_kernels={"compat_type": "potts"})
    state = torch.load(potts, weights_only=True) | {"feat_scales.0": SCALES}
    with pytest.raises(UserError, match="other than 4d pairwise kernels"):
        import_release(state)
    torch.save({"epoch": 3}, tmp_path / "other.pth")
    with pytest.raises(UserError, match="is no state dict"):
        import_file(tmp_path / "other.pth", tmp_path, "other", {})


def test_the_command_imports_with_dilations_of_its_own(tmp_path: Path) -> None:
    file, out = crf_file(tmp_path / "crf.pth"), tmp_path / "out"
    command = ["weights", "import", str(file), "--out", str(out), "--dilations", "8,32"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    (spec,) = yaml.safe_load(result.output)
    assert spec["params"]["dilations"] == [8, 32]
    assert Path(spec["params"]["weights"]).is_file()
    mistaken = CliRunner().invoke(app, [*command[:-1], "a,b"])
    assert isinstance(mistaken.exception, UserError)
