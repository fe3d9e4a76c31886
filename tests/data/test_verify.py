"""What `pacbench data verify` finds."""

import hashlib

import numpy as np
import pytest

from pacbench.data.base import Source
from pacbench.data.nyu import Nyu
from pacbench.data.scenes import Scenes
from pacbench.data.sintel import Sintel
from pacbench.data.verify import params_for, verify
from pacbench.errors import UserError


def test_everything_missing(tmp_path):
    checks = verify(Nyu, params_for(Nyu, tmp_path, []))
    assert [check.what for check in checks] == [
        "nyu_depth_v2_labeled.mat",
        "split train",
        "split val",
        "split test",
    ]
    assert not any(check.ok for check in checks)


def test_checksums(tmp_path, monkeypatch):
    content = b"an archive"
    (tmp_path / "a.zip").write_bytes(content)
    right = hashlib.md5(content, usedforsecurity=False).hexdigest()
    for md5, ok in ((right, True), ("0" * 32, False)):
        monkeypatch.setattr(Sintel, "sources", (Source("http://host/a.zip", md5, archive=True),))
        check = verify(Sintel, params_for(Sintel, tmp_path, []))[0]
        assert check.ok is ok
        assert right in check.detail
    (tmp_path / "a.zip").unlink()
    check = verify(Sintel, params_for(Sintel, tmp_path, []))[0]
    assert check.ok is None  # archives need not be kept


def test_counts_are_compared(monkeypatch):
    small = params_for(Scenes, None, ["count=3", "size=[16, 16]"])
    assert [check.detail for check in verify(Scenes, small)] == ["3 samples"] * 3
    monkeypatch.setattr(Scenes, "counts", {"val": 4})
    checks = verify(Scenes, small)
    assert [check.ok for check in checks] == [True, False, True]
    assert checks[1].detail == "3 samples, expected 4"


def test_settings_are_yaml():
    params = params_for(
        Scenes, None, ["size=[32, 40]", "jpeg=null", "unary={name: noise, keep: 1}"]
    )
    assert params.size == (32, 40)
    assert params.jpeg is None
    assert np.isclose(params.unary.keep, 1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["size"], "expected key=value"),
        (["size=[1"], "--set size="),
        (["siez=3"], "siez: Extra inputs are not permitted; it has size, count"),
        (["noise=-1"], "noise: Input should be greater than or equal to 0"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(UserError) as caught:
        params_for(Scenes, None, settings)
    assert message in str(caught.value)
