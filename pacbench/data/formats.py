"""Readers of the field's file formats: images, labels, depth and flow.

All raise ``UserError`` with the file's name for a file that is missing, cut short or of another
kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from pacbench.errors import UserError

Array = NDArray[Any]

FLO_MAGIC = b"PIEH"  # 202021.25 as a little-endian float32
IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".ppm", ".tif", ".tiff", ".webp")
DEPTH_SUFFIXES = (".png", ".npy", ".npz", ".pfm", ".mat")
FLOW_SUFFIXES = (".flo", ".png", ".npy")


def read_image(path: Path) -> NDArray[np.uint8]:
    """(3, H, W) uint8 RGB."""
    with _naming(path, "an image"):
        from PIL import Image

        with Image.open(path) as image:
            pixels = np.asarray(image.convert("RGB"))
    return np.ascontiguousarray(pixels.transpose(2, 0, 1))


def read_labels(path: Path) -> NDArray[np.uint8]:
    """(H, W) uint8: the indices of a palette image, or the values of a grey one."""
    with _naming(path, "a label image"):
        from PIL import Image

        with Image.open(path) as image:
            if image.mode not in ("P", "L", "1"):
                raise ValueError(f"its mode is {image.mode}; allowed are palette and 8-bit grey")
            return np.array(image, dtype=np.uint8)


def read_depth(path: Path, key: str | None = None) -> NDArray[np.float32]:
    """(H, W) float32, as stored: the caller knows the unit.

    Args:
        key: which array of an .npz or .mat file; without it the file must have only one.
    """
    with _naming(path, "a depth map"):
        suffix = path.suffix.lower()
        if suffix == ".npy":
            depth = np.load(path, allow_pickle=False)
        elif suffix == ".npz":
            # Opened here, as numpy leaves a damaged file open.
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                depth = arrays[_only(list(arrays), key)]
        elif suffix == ".pfm":
            depth = _read_pfm(path)
        elif suffix == ".mat":
            depth = _read_mat(path, key)
        elif suffix == ".png":
            depth = _read_png(path)
        else:
            raise ValueError(f"its suffix is not one of {', '.join(DEPTH_SUFFIXES)}")
        if depth.ndim != 2:
            raise ValueError(f"its shape is {depth.shape}, expected (H, W)")
        return np.ascontiguousarray(depth, dtype=np.float32)


def read_flow(path: Path) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """(2, H, W) float32 in pixels and an (H, W) mask of what the file says is known.

    .flo (Middlebury, Sintel), .png (KITTI, 16 bit) or .npy, (2, H, W) or (H, W, 2).
    """
    with _naming(path, "a flow field"):
        suffix = path.suffix.lower()
        if suffix == ".flo":
            flow = _read_flo(path)
        elif suffix == ".npy":
            flow = np.load(path, allow_pickle=False)
            if flow.ndim == 3 and flow.shape[0] != 2 and flow.shape[2] == 2:
                flow = flow.transpose(2, 0, 1)
        elif suffix == ".png":
            coded = _read_png(path)
            if coded.ndim != 3 or coded.dtype != np.uint16:
                raise ValueError("it is not a 16-bit image of three channels, as KITTI's are")
            values = coded[..., :2].astype(np.float32).transpose(2, 0, 1)
            return (values - np.float32(2**15)) / np.float32(64), coded[..., 2] > 0
        else:
            raise ValueError(f"its suffix is not one of {', '.join(FLOW_SUFFIXES)}")
        if flow.ndim != 3 or flow.shape[0] != 2:
            raise ValueError(f"its shape is {flow.shape}, expected (2, H, W) or (H, W, 2)")
        flow = np.ascontiguousarray(flow, dtype=np.float32)
        return flow, np.ones(flow.shape[1:], dtype=bool)


@contextmanager
def _naming(path: Path, kind: str) -> Iterator[None]:
    """Turns what a reader raises into an error that names the file."""
    if not path.is_file():
        raise UserError(f"{kind} is missing: {path}")
    try:
        yield
    except Exception as error:  # readers of damaged files raise anything
        raise UserError(f"{path} cannot be read as {kind}: {error}") from error


def _read_flo(path: Path) -> Array:
    with path.open("rb") as file:
        if file.read(4) != FLO_MAGIC:
            raise ValueError("it does not begin with PIEH, as .flo files do")
        width, height = (int(size) for size in _read_array(file, "<i4", 2))
        if not (0 < width < 2**16 and 0 < height < 2**16):
            raise ValueError(f"its size is {width}×{height}")
        pairs = _read_array(file, "<f4", 2 * width * height)
    return pairs.reshape(height, width, 2).transpose(2, 0, 1)


def _read_pfm(path: Path) -> Array:
    with path.open("rb") as file:
        kind = file.readline().strip()
        if kind != b"Pf":
            raise ValueError(f"it begins with {kind[:8]!r}, grey .pfm files with b'Pf'")
        width, height = (int(size) for size in file.readline().split())
        # The sign of the scale is the byte order; its size means nothing here.
        order = "<" if float(file.readline()) < 0 else ">"
        values = _read_array(file, f"{order}f4", width * height)
    return values.reshape(height, width)[::-1]  # rows are stored from the bottom


def _read_array(file: IO[bytes], dtype: str, count: int) -> Array:
    wanted = np.dtype(dtype).itemsize * count
    data = file.read(wanted)
    if len(data) < wanted:
        raise ValueError(f"it is cut short: {len(data)} of {wanted} bytes")
    return np.frombuffer(data, dtype)


def _read_mat(path: Path, key: str | None) -> Array:
    """MATLAB files: version 7.3 is HDF5 and stores its arrays transposed."""
    import h5py

    if h5py.is_hdf5(path):
        with h5py.File(path, "r") as file:
            names = [name for name, item in file.items() if isinstance(item, h5py.Dataset)]
            return np.asarray(file[_only(names, key)]).T
    from scipy.io import loadmat

    arrays = loadmat(path)
    return np.asarray(arrays[_only([name for name in arrays if name[:2] != "__"], key)])


def _only(names: list[str], key: str | None) -> str:
    if key is not None:
        if key not in names:
            raise ValueError(f"it has no array '{key}', only {', '.join(sorted(names))}")
        return key
    if len(names) != 1:
        raise ValueError(f"it has {len(names)} arrays ({', '.join(sorted(names))}): name one")
    return names[0]


def _read_png(path: Path) -> Array:
    """(H, W) or (H, W, 3) in RGB order, 8 or 16 bit as stored."""
    import cv2

    # Decoded from memory, as cv2.imread warns on the terminal about files it cannot open.
    pixels = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None:
        raise ValueError("it is no PNG image, or a damaged one")
    return pixels if pixels.ndim == 2 else pixels[..., 2::-1]
