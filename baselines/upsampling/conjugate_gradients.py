"""Conjugate gradients that stop by the error in the values sought."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float32]


def conjugate_gradients(
    matrix: sparse.sparray,
    right: Array,
    start: Array,
    tolerance: float = 1e-7,
    iterations: int = 3000,
    precondition: Callable[[Array], Array] | None = None,
) -> Array:
    """x with A x = b for a symmetric positive definite A, from a good ``start``.

    scipy's ``cg`` stops by the residual r, whose size says little here: pixels without a sample
    weigh only as much as their edges. This stops when M⁻¹ r, which is in the units of x, has a root
    mean square of ``tolerance``: far less than the error of x, for what is wrong over a wide area
    shows little in each pixel's own equation.

    Args:
        matrix: A, (n, n).
        right: b, (n,).
        start: (n,); returned as it is if it is good enough.
        precondition: multiplies by M⁻¹; without it M is the diagonal of A.
    """
    if precondition is None:
        precondition = partial(np.multiply, 1 / matrix.diagonal())
    x = start.copy()
    residual = right - matrix @ x
    correction = precondition(residual)
    direction = correction.copy()
    slope = residual @ correction
    limit = tolerance**2 * len(x)
    for _ in range(iterations):
        if correction @ correction <= limit:
            break
        image = matrix @ direction
        length = slope / (direction @ image)
        x += length * direction
        residual -= length * image
        correction = precondition(residual)
        slope, previous = residual @ correction, slope
        direction *= slope / previous
        direction += correction
    return x
