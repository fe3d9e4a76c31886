"""A preconditioner for maps whose samples lie between pixels.

Such a sample ties the mean of four pixels to its value and says nothing of their differences, which
hang on edges a thousand and more times weaker. The diagonal of the matrix takes the four for well
known all the same, and with it conjugate gradients need up to four times the iterations.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float32]


class SamplePreconditioner:
    """Multiplies by (SᵀS + D)⁻¹.

    Args:
        sampling: S, (h w, H W), in which no two rows share a pixel.
        diagonal: D, (H W,), positive.
    """

    def __init__(self, sampling: sparse.csr_array, diagonal: Array) -> None:
        self._sampling = sampling
        self._inverse: Array = np.reciprocal(diagonal)
        # Woodbury: (SᵀS + D)⁻¹ = D⁻¹ − D⁻¹ Sᵀ (1 + S D⁻¹ Sᵀ)⁻¹ S D⁻¹, where S D⁻¹ Sᵀ is diagonal
        # since no two samples share a pixel. The excess is all that stands left of the last S.
        share = 1 / (1 + sampling.power(2) @ self._inverse)
        self._excess = sampling.multiply(self._inverse).multiply(share[:, None]).tocsr().T

    def __call__(self, residual: Array) -> Array:
        """(H W,) to (H W,)."""
        scaled = self._inverse * residual
        scaled -= self._excess @ (self._sampling @ scaled)
        return scaled
