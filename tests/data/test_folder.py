"""A user's own folder: matching, units, unknown pixels, and every mistake named."""

import struct

import cv2
import numpy as np
import pytest
from PIL import Image

from pacbench.data.folder import Folder, FolderParams
from pacbench.data.unary import FilesUnary
from pacbench.errors import UserError

SIZE = (6, 8)


def write_image(path, size=SIZE, grey=50):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size[::-1], (grey,) * 3).save(path)


def write_flo(path, flow):
    path.parent.mkdir(parents=True, exist_ok=True)
    height, width = flow.shape[1:]
    body = flow.transpose(1, 2, 0).astype("<f4").tobytes()
    path.write_bytes(struct.pack("<fii", 202021.25, width, height) + body)


@pytest.fixture
def root(tmp_path):
    """Two images with depth in millimetres, flow, labels and logits."""
    for number, stem in enumerate(("a", "b")):
        write_image(tmp_path / f"images/{stem}.jpg", grey=50 + number)
        depth = np.full(SIZE, 1500 + number, np.uint16)
        depth[0, 0] = 0
        (tmp_path / "depth").mkdir(exist_ok=True)
        cv2.imwrite(str(tmp_path / f"depth/{stem}.png"), depth)
        flow = np.full((2, *SIZE), 3.0, np.float32)
        flow[1, 2, 3] = 1e9
        flow[0, 4, 4] = np.nan
        flow[0, 5, 5] = np.inf
        write_flo(tmp_path / f"flow/{stem}.flo", flow)
        labels = np.full(SIZE, number, np.uint8)
        labels[1, 1], labels[1, 2] = 255, 11
        (tmp_path / "labels").mkdir(exist_ok=True)
        Image.fromarray(labels).save(tmp_path / f"labels/{stem}.png")
        (tmp_path / "logits").mkdir(exist_ok=True)
        np.save(tmp_path / f"logits/{stem}.npy", np.full((11, 2, 2), number, np.float32))
    return tmp_path


def folder(root, split="all", **params):
    return Folder(FolderParams(root=root, **params), split, 0)


def test_depth_has_its_scale_and_zeros_are_unknown(root):
    sample = folder(root, depth="depth", depth_scale=0.001)[1]
    assert sample.name == "b"
    assert (sample.image == 51).all()
    assert sample.depth[3, 3] == pytest.approx(1.501)
    assert np.argwhere(~sample.valid).tolist() == [[0, 0]]
    assert sample.depth[0, 0] == 0


def test_zeros_can_be_depths(root):
    params = {"depth_scale": 1 / 25.5, "depth_offset": 0.5 / 25.5, "zero_is_unknown": False}
    sample = folder(root, depth="depth", **params)[0]
    assert sample.valid is None
    assert sample.depth[0, 0] == pytest.approx(0.5 / 25.5)


def test_flow_that_is_unknown_is_masked(root):
    sample = folder(root, flow="flow")[0]
    assert np.argwhere(~sample.valid).tolist() == [[2, 3], [4, 4], [5, 5]]
    assert np.isfinite(sample.flow).all()
    assert sample.flow[1, 2, 3] == 0
    both = folder(root, flow="flow", depth="depth")[0]
    assert (~both.valid).sum() == 4


def test_labels_can_be_ignored_or_are_checked(root):
    sample = folder(root, labels="labels", classes=11, ignore=[11])[0]
    assert sample.labels[1, 1] == sample.labels[1, 2] == 255
    with pytest.raises(UserError, match=r"a\.png has label 11; allowed are 0 to 10 and 255"):
        folder(root, labels="labels", classes=11)[0]


def test_logits_by_stem(root):
    unary = {"name": "files", "root": root / "logits"}
    sample = folder(root, classes=11, unary=unary)[1]
    assert sample.unary.shape == (11, *SIZE)
    assert (sample.unary == 1).all()


def test_numpy_depth_with_infinity(root):
    (root / "npy").mkdir()
    for stem in ("a", "b"):
        np.savez(root / f"npy/{stem}.npz", disp=np.array([[np.inf] + [2.0] * 7] * 6))
    sample = folder(root, depth="npy", depth_key="disp")[0]
    assert (~sample.valid).sum() == 6
    assert (sample.depth[:, 0] == 0).all()


def test_splits_are_subfolders(tmp_path):
    for split, names in (("train", "abc"), ("test", "d")):
        for stem in names:
            write_image(tmp_path / split / "images" / f"{stem}.png")
    assert len(folder(tmp_path, "train")) == 3
    assert len(folder(tmp_path, "test")) == 1
    with pytest.raises(UserError, match=r"no folder 'val'; it has \['train', 'test'\]"):
        folder(tmp_path, "val")
    with pytest.raises(UserError, match="only folders of splits"):
        folder(tmp_path, "all")


def test_a_folder_without_splits_has_only_all(root):
    with pytest.raises(UserError, match="use 'split: all' for everything in it"):
        folder(root, "test")


def test_a_csv_lists_samples(root):
    (root / "list.csv").write_text(
        "image,depth,logits,split\n"
        "images/a.jpg,depth/b.png,logits/b.npy,train\n"
        "images/b.jpg,,logits/a.npy,test\n"
    )
    unary = FilesUnary(name="files", root=root)
    train = folder(root, "train", csv="list.csv", depth_scale=0.001, classes=11, unary=unary)
    assert len(train) == 1
    assert train[0].depth[3, 3] == pytest.approx(1.501)
    assert (train[0].unary == 1).all()
    test = folder(root, "test", csv="list.csv")
    assert test[0].name == "b"
    assert test[0].depth is None
    assert len(folder(root, "all", csv="list.csv")) == 2


def test_a_csv_tells_equal_names_apart(tmp_path):
    for scene in ("Art", "Books"):
        write_image(tmp_path / scene / "view1.png")
    (tmp_path / "l.csv").write_text("image\nArt/view1.png\nBooks/view1.png\n")
    dataset = folder(tmp_path, csv="l.csv")
    assert [dataset[i].name for i in (0, 1)] == ["00000-view1", "00001-view1"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "its columns are none"),
        ("picture\nimages/a.jpg\n", "its columns are picture; 'image' is needed"),
        ("image,dept\nimages/a.jpg,\n", "did you mean 'depth'"),
        ("image\nimages/zzz.jpg\n", "the csv names a file that is missing"),
        ("image\n../secret.png\n", "leads out of"),
        ("image\n/etc/hostname\n", "leads out of"),
        ("image,depth\n,depth/a.png\n", "a row without an image"),
        ("image\n", "lists no sample of split 'all'"),
    ],
)
def test_mistakes_in_a_csv(root, content, message):
    (root / "list.csv").write_text(content)
    with pytest.raises(UserError) as caught:
        folder(root, csv="list.csv")
    assert message in str(caught.value)


def test_mistakes_in_a_folder(root, tmp_path):
    with pytest.raises(UserError, match=r"root is not a folder: .*gone"):
        folder(root / "gone")
    with pytest.raises(UserError, match=r"csv is missing: .*no\.csv"):
        folder(root, csv="no.csv")
    with pytest.raises(UserError, match=r"no such folder: .*normals"):
        folder(root, depth="normals")
    (root / "depth/b.png").unlink()
    with pytest.raises(UserError, match=r"1 of 2 images have no depth .* for example b\.jpg"):
        folder(root, depth="depth")
    write_image(root / "images/a.png")
    with pytest.raises(UserError, match=r"a\.jpg and a\.png have the same stem"):
        folder(root)
    (root / "empty").mkdir()
    with pytest.raises(UserError, match=r"no image in .*empty"):
        folder(root, images="empty")


def test_sizes_must_agree(root):
    write_image(root / "images/a.jpg", (6, 9))
    with pytest.raises(UserError, match=r"a\.png is 6×8, its image .*a\.jpg 6×9"):
        folder(root, depth="depth")[0]
