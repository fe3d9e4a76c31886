"""NYU, Sintel and VOC, on small files in their true formats and folders."""

import pickle
import struct

import h5py
import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from pacbench.data.nyu import Nyu, NyuParams
from pacbench.data.sintel import Sintel, SintelParams
from pacbench.data.voc import Voc, VocParams
from pacbench.errors import UserError


@pytest.fixture(scope="module")
def nyu_root(tmp_path_factory):
    """All 1449 samples, of 6×8 pixels, laid out as MATLAB's: (N, 3, W, H) and (N, W, H)."""
    root = tmp_path_factory.mktemp("nyu")
    rng = np.random.default_rng(0)
    with h5py.File(root / "nyu_depth_v2_labeled.mat", "w", userblock_size=512) as file:
        file["images"] = rng.integers(0, 256, (1449, 3, 8, 6)).astype(np.uint8)
        file["depths"] = rng.uniform(0.7, 9.9, (1449, 8, 6)).astype(np.float32)
        file["depths"][1003, 2, 5] = 0
        file["depths"][1003, 4, 1] = np.nan
    return root


def test_nyu_splits_and_transposition(nyu_root):
    train = Nyu(NyuParams(root=nyu_root), "train", 0)
    test = Nyu(NyuParams(root=nyu_root), "test", 0)
    assert (len(train), len(test)) == (1000, 449)
    with h5py.File(nyu_root / "nyu_depth_v2_labeled.mat") as file:
        for dataset, index, number in ((train, 0, 0), (train, 999, 999), (test, 0, 1000)):
            sample = dataset[index]
            assert sample.name == f"{number:04d}"
            assert sample.image.shape == (3, 6, 8)
            np.testing.assert_array_equal(sample.image[:, 4, 7], file["images"][number][:, 7, 4])
            np.testing.assert_array_equal(sample.depth, file["depths"][number].T)
            assert sample.valid is None
    assert test[448].name == "1448"


def test_nyu_masks_what_is_unknown(nyu_root):
    sample = Nyu(NyuParams(root=nyu_root), "test", 0)[3]
    assert np.argwhere(~sample.valid).tolist() == [[1, 4], [5, 2]]
    assert sample.depth[5, 2] == sample.depth[1, 4] == 0


def test_nyu_keeps_a_validation_range(nyu_root):
    params = NyuParams(root=nyu_root, val=100)
    assert len(Nyu(params, "train", 0)) == 900
    assert Nyu(params, "val", 0)[0].name == "0900"
    assert len(Nyu(NyuParams(root=nyu_root), "val", 0)) == 0


def test_nyu_goes_to_another_process(nyu_root):
    dataset = Nyu(NyuParams(root=nyu_root), "test", 0)
    expected = dataset[5]
    copy = pickle.loads(pickle.dumps(dataset))  # noqa: S301
    np.testing.assert_array_equal(copy[5].depth, expected.depth)


def test_nyu_that_is_something_else(tmp_path):
    with pytest.raises(UserError, match=r"'nyu' is missing: .*pacbench data fetch nyu"):
        Nyu(NyuParams(root=tmp_path), "test", 0)
    path = tmp_path / "nyu_depth_v2_labeled.mat"
    path.write_bytes(b"MATLAB 5.0 MAT-file")
    with pytest.raises(UserError, match=r"is not the \.mat file of NYU Depth V2"):
        Nyu(NyuParams(root=tmp_path), "test", 0)
    with h5py.File(path, "w") as file:
        file["images"] = np.zeros((4, 3, 8, 6), np.uint8)
    with pytest.raises(UserError, match="has no array depths"):
        Nyu(NyuParams(root=tmp_path), "test", 0)
    with h5py.File(path, "a") as file:
        file["depths"] = np.zeros((4, 8, 6), np.float32)
    with pytest.raises(UserError, match="4 images and 4 depth maps, expected 1449"):
        Nyu(NyuParams(root=tmp_path), "test", 0)


FRAMES = {"alley_1": 4, "ambush_6": 3, "bamboo_2": 28, "market_6": 4, "temple_2": 10}


@pytest.fixture(scope="module")
def sintel_root(tmp_path_factory):
    root = tmp_path_factory.mktemp("sintel")
    for sequence, frames in FRAMES.items():
        for kind in ("clean", "final", "flow"):
            (root / "training" / kind / sequence).mkdir(parents=True)
        for frame in range(1, frames + 1):
            for render, grey in (("clean", frame), ("final", 100 + frame)):
                path = root / "training" / render / sequence / f"frame_{frame:04d}.png"
                Image.new("RGB", (6, 4), (grey, 0, 0)).save(path)
            if frame < frames:  # the last frame has no flow
                body = np.full((4, 6, 2), (frame, -frame), "<f4")
                body[0, 0] = 1e10 if sequence == "alley_1" else 0
                path = root / "training" / "flow" / sequence / f"frame_{frame:04d}.flo"
                path.write_bytes(struct.pack("<fii", 202021.25, 6, 4) + body.tobytes())
    return root


def test_sintel_has_the_published_split(sintel_root):
    train = Sintel(SintelParams(root=sintel_root), "train", 0)
    val = Sintel(SintelParams(root=sintel_root), "val", 0)
    assert [train[i].name for i in range(len(train))] == [
        "alley_1-frame_0001",
        "alley_1-frame_0002",
        "alley_1-frame_0003",
        "bamboo_2-frame_0001",
        "bamboo_2-frame_0002",
    ]
    # All of ambush_6 and market_6, the last 25 of bamboo_2 and (here all 9) of temple_2.
    assert len(val) == 2 + 25 + 3 + 9
    assert val[2].name == "bamboo_2-frame_0003"


def test_sintel_reads_the_first_frame_and_its_flow(sintel_root):
    sample = Sintel(SintelParams(root=sintel_root), "train", 0)[1]
    assert sample.image.shape == (3, 4, 6)
    assert (sample.image[0] == 2).all()
    assert sample.flow.shape == (2, 4, 6)
    assert (sample.flow[:, 1, 1] == (2, -2)).all()
    assert np.argwhere(~sample.valid).tolist() == [[0, 0]]
    assert (sample.flow[:, 0, 0] == 0).all()
    final = Sintel(SintelParams(root=sintel_root, render="final"), "train", 0)[1]
    assert (final.image[0] == 102).all()


def test_sintel_that_is_missing(tmp_path, sintel_root):
    with pytest.raises(UserError, match=r"'sintel' is missing: looked for .*training/flow"):
        Sintel(SintelParams(root=tmp_path), "val", 0)
    nested = tmp_path / "MPI-Sintel-complete"
    nested.symlink_to(sintel_root)
    assert len(Sintel(SintelParams(root=tmp_path), "train", 0)) == 5


def published_count(val):
    """Pairs of a split, from the published number of frames of each sequence."""
    frames = {
        **dict.fromkeys(
            ["alley_1", "alley_2", "bamboo_1", "bamboo_2", "bandage_1", "bandage_2", "cave_2"], 50
        ),
        **dict.fromkeys(["cave_4", "market_2", "mountain_1", "shaman_2", "shaman_3"], 50),
        **dict.fromkeys(["sleeping_1", "sleeping_2", "temple_2", "temple_3", "market_5"], 50),
        **dict.fromkeys(["ambush_5", "ambush_7"], 50),
        "ambush_2": 21,
        "ambush_4": 33,
        "ambush_6": 20,
        "market_6": 40,
    }
    whole = sum(frames[name] - 1 for name in ("ambush_6", "market_6"))
    return whole + 75 if val else sum(frames.values()) - len(frames) - whole - 75


def test_the_rule_gives_the_published_counts():
    assert Sintel.counts["val"] == published_count(val=True)
    assert Sintel.counts["train"] == published_count(val=False) == 908


@pytest.fixture(scope="module")
def voc_root(tmp_path_factory):
    root = tmp_path_factory.mktemp("voc")
    voc = root / "TrainVal/VOCdevkit/VOC2011"
    sbd = root / "benchmark_RELEASE/dataset"
    for folder in (voc / "ImageSets/Segmentation", voc / "JPEGImages", voc / "SegmentationClass"):
        folder.mkdir(parents=True)
    for folder in (sbd / "img", sbd / "cls"):
        folder.mkdir(parents=True)
    (voc / "ImageSets/Segmentation/train.txt").write_text("2007_000001\n")
    (voc / "ImageSets/Segmentation/val.txt").write_text("2007_000002\n2008_000003\n2009_000004\n")
    (sbd / "train.txt").write_text("2008_000003\n2008_000009\n")
    for number, name in enumerate(["2007_000001", "2007_000002", "2008_000003", "2009_000004"]):
        Image.new("RGB", (10, 8), (number, 0, 0)).save(voc / f"JPEGImages/{name}.jpg", quality=100)
        labels = Image.fromarray(np.full((8, 10), number, np.uint8)).convert("P")
        labels.putdata([number] * 79 + [255])
        labels.save(voc / f"SegmentationClass/{name}.png")
    for name in ("2008_000003", "2008_000009"):
        Image.new("RGB", (10, 8)).save(sbd / f"img/{name}.jpg")
        segmentation = np.full((8, 10), 7, np.uint8)
        savemat(sbd / f"cls/{name}.mat", {"GTcls": {"Segmentation": segmentation, "Boundaries": 0}})
    return root


def test_voc_val_leaves_out_what_sbd_trains_on(voc_root):
    val = Voc(VocParams(root=voc_root), "val", 0)
    assert [val[i].name for i in range(len(val))] == ["2007_000002", "2009_000004"]
    sample = val[1]
    assert sample.image.shape == (3, 8, 10)
    assert sample.labels[0, 0] == 3
    assert sample.labels[7, 9] == 255
    assert sample.unary.shape == (21, 8, 10)


def test_voc_trains_on_sbd(voc_root):
    train = Voc(VocParams(root=voc_root, unary=None), "train", 0)
    assert [train[i].name for i in range(len(train))] == ["2008_000003", "2008_000009"]
    assert (train[0].labels == 7).all()
    assert train[0].unary is None


def test_voc_without_sbd(voc_root, tmp_path):
    params = VocParams(root=voc_root, sbd=False)
    assert len(Voc(params, "val", 0)) == 3
    assert Voc(params, "train", 0)[0].name == "2007_000001"
    (tmp_path / "VOC2011").symlink_to(voc_root / "TrainVal/VOCdevkit/VOC2011")
    with pytest.raises(UserError, match="or 'sbd: false' leaves SBD out"):
        Voc(VocParams(root=tmp_path), "val", 0)


def test_voc_takes_a_list(voc_root, tmp_path):
    (tmp_path / "mine.txt").write_text("2009_000004\n")
    params = VocParams(root=voc_root, val_list=tmp_path / "mine.txt")
    assert [s.name for s in (Voc(params, "val", 0)[0],)] == ["2009_000004"]
    with pytest.raises(UserError, match=r"no .*gone\.txt"):
        Voc(VocParams(root=voc_root, val_list=tmp_path / "gone.txt"), "val", 0)


def test_voc_that_is_missing_or_damaged(voc_root, tmp_path):
    with pytest.raises(UserError, match="dataset 'voc' is missing: looked for"):
        Voc(VocParams(root=tmp_path), "val", 0)
    damaged = voc_root / "benchmark_RELEASE/dataset/cls/2008_000009.mat"
    content = damaged.read_bytes()
    damaged.write_bytes(b"nothing")
    try:
        with pytest.raises(UserError, match=r"2008_000009\.mat cannot be read as labels of SBD"):
            Voc(VocParams(root=voc_root), "train", 0)[1]
    finally:
        damaged.write_bytes(content)


def test_home_is_understood(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert NyuParams(root="~/nyu").root == tmp_path / "nyu"
