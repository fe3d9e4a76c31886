"""The losses of JPEG, without the file: 4:2:0 chroma, 8×8 DCT, quantisation with the usual tables.

The DCT is of integers, rounded after each pass: sums stay below 2**24, so float32 matrix products
are exact and the result does not depend on a library's order of summation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Plane = NDArray[np.float32]

BLOCK = 8
# The integer DCT of H.265: near 64 sqrt(8) times orthonormal, so two passes scale by 2**15.
_DCT = np.array(
    [
        [64, 64, 64, 64, 64, 64, 64, 64],
        [89, 75, 50, 18, -18, -50, -75, -89],
        [83, 36, -36, -83, -83, -36, 36, 83],
        [75, -18, -89, -50, 50, 89, 18, -75],
        [64, -64, -64, 64, 64, -64, -64, 64],
        [50, -89, 18, 75, -75, -18, 89, -50],
        [36, -83, 83, -36, -36, 83, -83, 36],
        [18, -50, 75, -89, 89, -75, 50, -18],
    ],
    dtype=np.float32,
)
_FIRST_PASS, _SECOND_PASS = np.float32(2.0**-7), np.float32(2.0**-8)
# ITU-T T.81, tables K.1 and K.2.
_LUMA = np.array(
    [
        [16, 11, 10, 16, 24, 40, 51, 61],
        [12, 12, 14, 19, 26, 58, 60, 55],
        [14, 13, 16, 24, 40, 57, 69, 56],
        [14, 17, 22, 29, 51, 87, 80, 62],
        [18, 22, 37, 56, 68, 109, 103, 77],
        [24, 35, 55, 64, 81, 104, 113, 92],
        [49, 64, 78, 87, 103, 121, 120, 101],
        [72, 92, 95, 98, 112, 100, 103, 99],
    ]
)
_CHROMA = np.full((8, 8), 99)
_CHROMA[:4, :4] = [[17, 18, 24, 47], [18, 21, 26, 66], [24, 26, 56, 99], [47, 66, 99, 99]]


def jpeg_losses(image: NDArray[np.float32], quality: int) -> NDArray[np.float32]:
    """(3, H, W) RGB as it comes back from a JPEG file of this quality (1 to 100)."""
    height, width = image.shape[1:]
    padding = ((0, 0), (0, -height % (2 * BLOCK)), (0, -width % (2 * BLOCK)))
    red, green, blue = np.pad(image, padding, mode="edge")
    luma = np.float32(0.299) * red + np.float32(0.587) * green + np.float32(0.114) * blue
    cb = _round_trip(_halved((blue - luma) * np.float32(0.564)), _table(_CHROMA, quality))
    cr = _round_trip(_halved((red - luma) * np.float32(0.713)), _table(_CHROMA, quality))
    luma = _round_trip(luma - np.float32(128), _table(_LUMA, quality)) + np.float32(128)
    cb, cr = _doubled(cb), _doubled(cr)
    out = np.empty_like(image)
    visible = np.s_[:height, :width]
    out[0] = (luma + np.float32(1.403) * cr)[visible]
    out[1] = (luma - np.float32(0.344) * cb - np.float32(0.714) * cr)[visible]
    out[2] = (luma + np.float32(1.773) * cb)[visible]
    return out


def _table(base: NDArray[np.int64], quality: int) -> Plane:
    scale = 5000 // quality if quality < 50 else 200 - 2 * quality
    return np.clip((base * scale + 50) // 100, 1, 255).astype(np.float32)


def _round_trip(plane: Plane, table: Plane) -> Plane:
    """Quantises the coefficients of every block of a plane around zero."""
    steps = np.tile(table, (1, plane.shape[1] // BLOCK))
    blocks = _two_passes(np.rint(plane).reshape(-1, BLOCK, plane.shape[1]), _DCT)
    blocks /= steps
    np.rint(blocks, out=blocks)
    blocks *= steps
    return _two_passes(blocks, np.ascontiguousarray(_DCT.T)).reshape(plane.shape)


def _two_passes(blocks: Plane, matrix: Plane) -> Plane:
    """matrix @ block @ matrix.T of every 8×8 block of (rows, 8, W)."""
    down = np.matmul(matrix, blocks)
    down *= _FIRST_PASS
    np.rint(down, out=down)
    across: Plane = (down.reshape(-1, BLOCK) @ matrix.T).reshape(blocks.shape)
    across *= _SECOND_PASS
    np.rint(across, out=across)
    return across


def _halved(plane: Plane) -> Plane:
    pairs = plane[::2] + plane[1::2]
    return (pairs[:, ::2] + pairs[:, 1::2]) * np.float32(0.25)


def _doubled(plane: Plane) -> Plane:
    return plane.repeat(2, axis=0).repeat(2, axis=1)
