"""Flow: what the camera's motion does to every pixel, plus an affine motion of each object."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacbench.data.draws import Draws
from pacbench.data.scenes.canvas import Canvas

AFFINE = 6
"""Per object: velocity (u, v) at its centre and the four derivatives by x and y."""


def flow_of(
    canvas: Canvas,
    instances: NDArray[np.intp],
    centres: list[tuple[float, float]],
    draws: Draws,
) -> NDArray[np.float32]:
    """(2, H, W) in pixels, u to the right and v down.

    The camera's part is the motion field of Longuet-Higgins and Prazdny for a small translation
    and rotation, which depends on depth; objects move by affine maps about their centres.

    Args:
        instances: (H, W) number of each pixel's object, 0 for the stage.
        centres: (x, y) in ray coordinates of objects 1, 2, …
    """
    x, y, inverse = canvas.x, canvas.y, canvas.inverse_depth
    focal = np.float32(canvas.focal)
    tx, ty, tz = (np.float32(draws.uniform(-s, s)) for s in (0.06, 0.03, 0.08))
    pitch, yaw, roll = (np.float32(draws.uniform(-s, s)) for s in (0.008, 0.012, 0.01))
    u = (x * tz - tx) * inverse + (pitch * x * y - yaw * (1 + x * x) + roll * y)
    v = (y * tz - ty) * inverse + (pitch * (1 + y * y) - yaw * x * y - roll * x)

    moves = np.zeros((AFFINE, 1 + len(centres)), dtype=np.float32)
    for number, (cx, cy) in enumerate(centres, start=1):
        ux, uy, vx, vy = (draws.uniform(-0.06, 0.06) for _ in range(4))
        speed_u, speed_v = draws.uniform(-0.03, 0.03), draws.uniform(-0.015, 0.015)
        # u = speed + ux (x - cx) + uy (y - cy), as constant, x and y terms.
        moves[:, number] = (
            speed_u - ux * cx - uy * cy, ux, uy,
            speed_v - vx * cx - vy * cy, vx, vy,
        )  # fmt: skip
    terms = [row.take(instances, mode="clip") for row in moves]
    u += terms[0] + terms[1] * x + terms[2] * y
    v += terms[3] + terms[4] * x + terms[5] * y
    flow = np.stack([u, v])
    flow *= focal
    return flow
