"""Maps that fit samples and are smooth along the edges of a graph of neighbouring pixels.

    E(u) = Σ_s (S u − f)_s² + Σ_{ij} w_ij (u_i − u_j)²,    minimal where (SᵀS + L) u = Sᵀ f

with S the sampling of the low-resolution map f and L the Laplacian of the graph. The matrix has a
few diagonals only and is kept as such: scipy multiplies by it in half the time of CSR.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacbench.baselines.upsampling.conjugate_gradients import conjugate_gradients
from pacbench.baselines.upsampling.sample_preconditioner import SamplePreconditioner
from pacbench.baselines.upsampling.sampling import sampling_matrix

Array = NDArray[np.float32]
Step = tuple[int, int]

FOUR_NEIGHBOURS: tuple[Step, ...] = ((0, 1), (1, 0))
EIGHT_NEIGHBOURS: tuple[Step, ...] = (*FOUR_NEIGHBOURS, (1, 1), (1, -1))
"""Steps down and across to half of the neighbours; to the other half the pixel is the neighbour."""

LEAST_SIMILARITY = np.float32(1e-3)
"""Without it single noisy pixels would be cut off from all samples: their values would hang on
vanishing weights, and a solver would be at them for thousands of iterations."""


def similarity(exponent: Array) -> Array:
    """exp(−exponent), and a little more."""
    return np.exp(-exponent) + LEAST_SIMILARITY


def squared_differences(maps: Array, step: Step) -> Array:
    """Σ_c (x_i − x_j)² over the channels of (C, H, W), for all edges ij of one step."""
    here, there = _ends(maps, step)
    return np.square(here - there).sum(axis=0)


def _ends(maps: Array, step: Step) -> tuple[Array, Array]:
    """Views of all pixels with a neighbour at that step, and of those neighbours."""
    down, across = step
    height, width = maps.shape[-2:]
    left, right = max(0, -across), max(0, across)
    return (
        maps[..., : max(0, height - down), left : width - right],
        maps[..., down:, right : width - left],
    )


def laplacian(
    weights: Sequence[Array], steps: Sequence[Step], size: tuple[int, int]
) -> sparse.dia_array:
    """L (H W, H W); the weights of each step are shaped as its :func:`squared_differences`."""
    degree = np.zeros(size, np.float32)
    edges: dict[int, Array] = {}
    for weight, step in zip(weights, steps, strict=True):
        if weight.size == 0:  # a map of one row or column has no such neighbours
            continue
        for end in _ends(degree, step):
            end += weight
        # In a map two pixels wide, steps to the right and to the lower left share a diagonal.
        diagonal = edges.setdefault(step[0] * size[1] + step[1], np.zeros(size, np.float32))
        _ends(diagonal, step)[0][...] -= weight
    diagonals = [degree.reshape(-1)]
    for offset, weight in edges.items():
        diagonals += [weight.reshape(-1)[: weight.size - offset]] * 2
    offsets = [0, *(sign * offset for offset in edges for sign in (1, -1))]
    return sparse.diags_array(diagonals, offsets=offsets, dtype=np.float32)


class SampledMap:
    """The samples ``low`` (C, h, w) of a map (C, h m, w m) that is sought.

    Args:
        low: f.
        factor: m.
        offset: of the samples in their cells, see :func:`sample_offset`.
    """

    def __init__(self, low: Array, factor: int, offset: float) -> None:
        channels, height, width = low.shape
        self.size = (height * factor, width * factor)
        self._samples = low.reshape(channels, -1)
        self._sampling = sampling_matrix(self.size, factor, offset)
        self._gram = (self._sampling.T @ self._sampling).todia()
        self._between_pixels = offset != int(offset)
        # With these, direct solutions of MRF and SDF on scenes are met to a thousandth.
        self._tolerance = 5e-8 if self._between_pixels else 1e-7

    def smoothest(self, start: Array, weights: Sequence[Array], steps: Sequence[Step]) -> Array:
        """The (C, H, W) minimum of E, found from ``start`` (C, H, W).

        A channel of ``start`` that is good enough is returned as it is.
        """
        graph = laplacian(weights, steps, self.size)
        matrix = self._gram + graph
        precondition = None
        if self._between_pixels:
            precondition = SamplePreconditioner(self._sampling, graph.diagonal())
        found = np.empty_like(start)
        for samples, first, best in zip(self._samples, start, found, strict=True):
            x = first.reshape(-1)
            # In Sᵀ f − (SᵀS + L) x the rounding of samples would drown the weakest edges. Sought is
            # the change of x, for which the rounding of the matrix matters as little.
            residual = self._sampling.T @ (samples - self._sampling @ x) - graph @ x
            change = conjugate_gradients(
                matrix,
                residual,
                np.zeros_like(residual),
                self._tolerance,
                precondition=precondition,
            )
            np.add(first, change.reshape(self.size), out=best)
        return found
