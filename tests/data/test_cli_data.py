"""`pacbench data` as a user types it."""

import hashlib
import io
import zipfile

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from pacbench.cli.data import app
from pacbench.data import Sample, datasets
from pacbench.data.base import Source
from pacbench.data.show import figure_of, flow_colours, panels_of
from pacbench.data.sintel import Sintel
from pacbench.errors import UserError


def run(*arguments):
    """Exit code and output; a ``UserError`` comes through, as the program's main handles it."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(result.exception, UserError):
        raise result.exception
    return result.exit_code, result.output


def test_list_names_all():
    code, output = run("list")
    assert code == 0
    assert [line.split()[0] for line in output.splitlines()] == list(datasets)
    assert set(datasets) >= {"folder", "nyu", "scenes", "sintel", "voc"}


@pytest.mark.parametrize("name", ["folder", "nyu", "scenes", "sintel", "voc"])
def test_info_has_licence_splits_and_every_parameter(name):
    code, output = run("info", name)
    assert code == 0
    info = datasets[name].info
    assert info.licence in output
    assert all(split in output for split in info.splits)
    for field, spec in datasets[name].Params.model_fields.items():
        assert f"  {field}: " in output
        assert spec.description in output


def test_mistyped_names_get_a_hint():
    with pytest.raises(
        UserError, match=r"no dataset is called 'sintl' \(did you mean 'sintel'\?\)"
    ):
        run("info", "sintl")


def test_verify_tells_and_fails(tmp_path):
    code, output = run("verify", "nyu", "--root", tmp_path)
    assert code == 1
    assert "BAD  nyu_depth_v2_labeled.mat: missing" in output
    code, output = run("verify", "scenes", "--set", "count=2", "--set", "size=[20, 20]")
    assert code == 0
    assert "ok   split train: 2 samples" in output


def test_fetch_downloads_and_unpacks(tmp_path, monkeypatch, serve):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("training/flow/alley_1/frame_0001.flo", b"PIEH")
    md5 = hashlib.md5(file.getvalue(), usedforsecurity=False).hexdigest()
    monkeypatch.setattr(Sintel, "sources", (Source("http://127.0.0.1:9/s.zip", md5, archive=True),))
    url, _ = serve(file.getvalue())
    code, output = run("fetch", "sintel", "--root", tmp_path / "new", "--url", url)
    assert code == 0
    assert "s.zip: checked, unpacked" in output
    assert Sintel.info.licence in output
    assert (tmp_path / "new/training/flow/alley_1/frame_0001.flo").is_file()


def test_fetch_refuses_what_it_cannot():
    with pytest.raises(UserError, match="dataset 'scenes' is not downloaded"):
        run("fetch", "scenes")
    with pytest.raises(UserError, match="has 2 sources, --url was given 1 times"):
        run("fetch", "voc", "--url", "http://127.0.0.1:9/x")


def test_show_writes_a_picture(tmp_path):
    out = tmp_path / "scene.png"
    code, output = run(
        "show", "scenes", "--index", 3, "--split", "val", "--out", out, "--set", "size=[60, 80]"
    )
    assert code == 0
    assert output.strip() == str(out)
    picture = np.asarray(Image.open(out))
    assert picture.shape[1] > 3 * picture.shape[0]
    assert picture.std() > 20


def test_show_says_what_is_wrong(tmp_path):
    with pytest.raises(UserError, match=r"sample 20 of 20 .* --index is 0 to 19"):
        run("show", "scenes", "--index", 20)
    with pytest.raises(UserError, match="has no split 'dev'"):
        run("show", "scenes", "--split", "dev")
    with pytest.raises(UserError, match="dataset 'sintel' is missing"):
        run("show", "sintel", "--root", tmp_path)
    with pytest.raises(UserError, match="cannot write the picture"):
        run("show", "scenes", "--set", "size=[9, 9]", "--out", tmp_path / "no/such/folder.png")
    with pytest.raises(UserError, match="cannot write the picture"):
        run("show", "scenes", "--set", "size=[9, 9]", "--out", tmp_path / "picture.xyz")


def test_panels_show_what_there_is_and_unknown_pixels_black():
    valid = np.ones((4, 5), bool)
    valid[1, 2] = False
    depth = np.linspace(1, 2, 20, dtype=np.float32).reshape(4, 5)
    panels = panels_of(Sample("s", np.zeros((3, 4, 5), np.uint8), depth=depth, valid=valid))
    assert list(panels) == ["image", "depth, 1.00 to 2.00 m"]
    picture = panels["depth, 1.00 to 2.00 m"]
    assert picture[1, 2].tolist() == [0, 0, 0]
    assert picture[0, 0].any()
    assert len(figure_of(Sample("s", np.zeros((3, 4, 5), np.uint8))).axes) == 1


def test_flow_colours_are_middleburys():
    """No motion is white; to the right is red; twice as far is more colourful."""
    flow = np.zeros((2, 1, 4), np.float32)
    flow[0, 0] = (0, 4, 2, -4)
    white, right, half, left = flow_colours(flow)[0].astype(int)
    assert white.tolist() == [255, 255, 255]
    assert right[0] == 255
    assert right[1] < 30
    assert right[2] < 60
    assert half[1] > 100
    assert left[2] > 200
    assert left[0] < 60
    flow[1, 0, 1] = np.nan
    assert flow_colours(flow)[0, 1].tolist() == [0, 0, 0]
    assert flow_colours(flow)[0, 0].tolist() == [255, 255, 255]
