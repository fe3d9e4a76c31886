"""Readers, on files written byte by byte as their formats are."""

import struct

import cv2
import h5py
import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from pacbench.data.formats import read_depth, read_flow, read_image, read_labels
from pacbench.errors import UserError

FLOW = np.random.default_rng(0).normal(0, 9, (2, 5, 7)).astype(np.float32)
DEPTH = np.random.default_rng(1).uniform(0.5, 9, (5, 7)).astype(np.float32)


def write_flo(path, flow):
    height, width = flow.shape[1:]
    body = flow.transpose(1, 2, 0).astype("<f4").tobytes()
    path.write_bytes(struct.pack("<fii", 202021.25, width, height) + body)


def test_flo(tmp_path):
    write_flo(tmp_path / "a.flo", FLOW)
    flow, known = read_flow(tmp_path / "a.flo")
    np.testing.assert_array_equal(flow, FLOW)
    assert known.all()


def test_kitti_png(tmp_path):
    """u and v times 64 plus 2**15 in red and green, validity in blue."""
    coded = np.zeros((5, 7, 3), np.uint16)
    coded[..., 0], coded[..., 1] = np.rint(FLOW * 64 + 2**15)
    coded[1:, :, 2] = 1
    cv2.imwrite(str(tmp_path / "k.png"), coded[..., ::-1])
    flow, known = read_flow(tmp_path / "k.png")
    np.testing.assert_allclose(flow, FLOW, atol=1 / 64)
    np.testing.assert_array_equal(known, coded[..., 2] == 1)


@pytest.mark.parametrize("axes", [(0, 1, 2), (1, 2, 0)])
def test_npy_flow(tmp_path, axes):
    np.save(tmp_path / "f.npy", FLOW.transpose(axes))
    np.testing.assert_array_equal(read_flow(tmp_path / "f.npy")[0], FLOW)


@pytest.mark.parametrize("order", ["<", ">"])
def test_pfm(tmp_path, order):
    scale = "-1.0" if order == "<" else "1.0"
    body = DEPTH[::-1].astype(f"{order}f4").tobytes()
    (tmp_path / "d.pfm").write_bytes(f"Pf\n7 5\n{scale}\n".encode() + body)
    np.testing.assert_array_equal(read_depth(tmp_path / "d.pfm"), DEPTH)


@pytest.mark.parametrize("bits", [np.uint8, np.uint16])
def test_png_depth(tmp_path, bits):
    values = np.arange(35).reshape(5, 7).astype(bits) * (7 if bits is np.uint8 else 1800)
    cv2.imwrite(str(tmp_path / "d.png"), values)
    np.testing.assert_array_equal(read_depth(tmp_path / "d.png"), values)


def test_numpy_depth(tmp_path):
    np.save(tmp_path / "d.npy", DEPTH)
    np.testing.assert_array_equal(read_depth(tmp_path / "d.npy"), DEPTH)
    np.savez(tmp_path / "one.npz", anything=DEPTH)
    np.testing.assert_array_equal(read_depth(tmp_path / "one.npz"), DEPTH)
    np.savez(tmp_path / "two.npz", a=DEPTH, b=2 * DEPTH)
    np.testing.assert_array_equal(read_depth(tmp_path / "two.npz", "b"), 2 * DEPTH)
    with pytest.raises(UserError, match=r"two.npz cannot be read .* 2 arrays \(a, b\): name one"):
        read_depth(tmp_path / "two.npz")
    with pytest.raises(UserError, match="no array 'c', only a, b"):
        read_depth(tmp_path / "two.npz", "c")


def test_matlab_depth_of_both_versions(tmp_path):
    savemat(tmp_path / "v5.mat", {"depth": DEPTH})
    np.testing.assert_array_equal(read_depth(tmp_path / "v5.mat"), DEPTH)
    with h5py.File(tmp_path / "v73.mat", "w") as file:
        file["depth"] = DEPTH.T  # MATLAB stores columns first
    np.testing.assert_array_equal(read_depth(tmp_path / "v73.mat"), DEPTH)


def test_labels_of_palette_and_grey(tmp_path):
    labels = np.array([[0, 15, 255], [20, 1, 0]], np.uint8)
    grey = Image.fromarray(labels)
    grey.save(tmp_path / "grey.png")
    palette = grey.convert("P")
    palette.putdata(labels.ravel().tolist())
    palette.putpalette([value for i in range(256) for value in (i, 255 - i, i // 2)])
    palette.save(tmp_path / "palette.png")
    np.testing.assert_array_equal(read_labels(tmp_path / "grey.png"), labels)
    np.testing.assert_array_equal(read_labels(tmp_path / "palette.png"), labels)
    Image.new("RGB", (3, 2)).save(tmp_path / "rgb.png")
    with pytest.raises(UserError, match="mode is RGB; allowed are palette and 8-bit grey"):
        read_labels(tmp_path / "rgb.png")


def test_images_become_rgb(tmp_path):
    Image.new("L", (4, 3), 77).save(tmp_path / "grey.png")
    image = read_image(tmp_path / "grey.png")
    assert image.shape == (3, 3, 4)
    assert (image == 77).all()


@pytest.mark.parametrize(
    ("reader", "name", "content", "message"),
    [
        (read_flow, "a.flo", b"PIEH\x07\x00\x00\x00\x05\x00\x00\x00abc", "cut short: 3 of 280"),
        (read_flow, "a.flo", b"JUNK", "does not begin with PIEH"),
        (read_flow, "a.flo", b"PIEH\xff\xff\xff\xff\x05\x00\x00\x00", "its size is -1×5"),
        (read_flow, "a.flo", b"", "does not begin with PIEH"),
        (read_flow, "a.xyz", b"", "suffix is not one of .flo, .png, .npy"),
        (read_flow, "a.png", b"no image", "no PNG image, or a damaged one"),
        (read_flow, "a.npy", b"\x93NUMPY", "cannot be read as a flow field"),
        (read_depth, "a.pfm", b"PF\n1 1\n-1\n", "begins with b'PF'"),
        (read_depth, "a.pfm", b"Pf\n9 9\n-1\nabc", "cut short: 3 of 324"),
        (read_depth, "a.png", b"", "cannot be read as a depth map"),
        (read_depth, "a.npz", b"PK", "cannot be read as a depth map"),
        (read_depth, "a.mat", b"MATLAB?", "cannot be read as a depth map"),
        (read_depth, "a.txt", b"1 2 3", "suffix is not one of .png, .npy"),
        (read_image, "a.jpg", b"\xff\xd8 cut", "cannot be read as an image"),
        (read_labels, "a.png", b"", "cannot be read as a label image"),
    ],
)
def test_damaged_files_are_named(tmp_path, reader, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError) as caught:
        reader(tmp_path / name)
    assert message in str(caught.value)
    assert str(tmp_path / name) in str(caught.value)


@pytest.mark.parametrize("reader", [read_flow, read_depth, read_image, read_labels])
def test_missing_files_are_named(tmp_path, reader):
    with pytest.raises(UserError, match=r"is missing: .*gone\.png"):
        reader(tmp_path / "gone.png")


def test_pickles_are_refused(tmp_path):
    np.save(tmp_path / "p.npy", np.array([[{"a": 1}]], dtype=object), allow_pickle=True)
    with pytest.raises(UserError, match="cannot be read as a depth map"):
        read_depth(tmp_path / "p.npy")


def test_wrong_shapes_are_refused(tmp_path):
    np.save(tmp_path / "d.npy", np.zeros((2, 3, 4)))
    with pytest.raises(UserError, match=r"its shape is \(2, 3, 4\), expected \(H, W\)"):
        read_depth(tmp_path / "d.npy")
    np.save(tmp_path / "f.npy", np.zeros((3, 3, 4)))
    with pytest.raises(UserError, match=r"its shape is \(3, 3, 4\), expected \(2, H, W\)"):
        read_flow(tmp_path / "f.npy")
    cv2.imwrite(str(tmp_path / "f.png"), np.zeros((3, 4, 3), np.uint8))
    with pytest.raises(UserError, match="not a 16-bit image of three channels"):
        read_flow(tmp_path / "f.png")
