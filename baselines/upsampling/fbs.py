"""Fast bilateral solver: a smoothness problem over all pixels, solved on a bilateral grid.

Barron & Poole minimise

    λ/2 Σ_{ij} Ŵ_ij (u_i − u_j)² + Σ_i c_i (u_i − t_i)²

for a target t with confidence c, Ŵ being a bistochastic bilateral affinity in position, luma and
chroma. Pixels of one grid vertex share one value, so with S the splat onto vertices, B the blur
between neighbouring vertices and bistochastisation D_m, D_n, the values y of the vertices solve

    (λ (D_m − D_n B D_n) + diag(S c)) y = S (c ∘ t),    u = Sᵀ y

by conjugate gradients, preconditioned by the diagonal, from the confident mean of each vertex.

As in their experiments on depth, t is the grown map and c a Gaussian bump at every sample. The
solver is the paper's own form, without its domain-transform post-filter: OpenCV has one too, but
not in its wheels, which are built without Eigen, and only for guides of 8 bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy import sparse

from pacbench.baselines.upsampling.arrays import ArrayMethod, within_range
from pacbench.baselines.upsampling.base import UpsampleParams
from pacbench.baselines.upsampling.conjugate_gradients import conjugate_gradients
from pacbench.baselines.upsampling.sampling import distance_to_sample, grow
from pacbench.method import MethodInfo, methods

Array = NDArray[np.float32]
Indices = NDArray[np.int64]

TO_YUV = np.array(
    [[0.299, 0.587, 0.114], [-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]], np.float32
)
"""JPEG's luma and chroma of RGB in [0, 1]; chroma is in [−0.5, 0.5]."""

BISTOCHASTISATION_STEPS = 10

LEAST_CONFIDENCE = np.float32(1e-6)
"""A vertex without neighbours and far from samples still has its target."""


class FastBilateralSolverParams(UpsampleParams):
    """Sizes of the grid's cells and the weight of smoothness."""

    sigma_spatial: float = Field(8.0, gt=0, description="pixels")
    sigma_luma: float = Field(0.04, gt=0, description="shares of the guide's range")
    sigma_chroma: float = Field(0.04, gt=0, description="shares of the guide's range")
    smoothness: float = Field(0.3, gt=0, description="λ")
    bump: float = Field(
        0.1, gt=0, description="deviation of the samples' confidence, in low-resolution pixels"
    )


class BilateralGrid:
    """Pixels of a (3, H, W) guide in [0, 1], assigned to cells of position, luma and chroma.

    Attributes:
        vertex: (H W,) the vertex of each pixel.
        count: number of vertices, the cells that hold a pixel.
        blur: (count, count) sum over the five dimensions of the filter 1, 2, 1.
    """

    def __init__(self, guide: Array, sigmas: tuple[float, float, float]) -> None:
        spatial, luma, chroma = sigmas
        rows, columns = np.indices(guide.shape[1:], np.float32) / np.float32(spatial)
        y, u, v = np.tensordot(TO_YUV, guide, 1)
        cells = [
            _cells(feature)
            for feature in (rows, columns, y / luma, (u + 0.5) / chroma, (v + 0.5) / chroma)
        ]
        # A free cell at the end of each dimension keeps neighbours from wrapping around.
        strides = np.cumprod([1, *(int(cell.max()) + 2 for cell in cells)])
        keys = sum(stride * cell for stride, cell in zip(strides, cells, strict=False))
        occupied, self.vertex = np.unique(keys, return_inverse=True)
        self.count = len(occupied)
        self.blur = _blur(occupied, strides[:5])

    def splat(self, values: Array) -> Array:
        """(count,) sums of (H W,) over the pixels of each vertex."""
        return np.bincount(self.vertex, values, self.count).astype(np.float32)

    def bistochastise(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Diagonals (count,) of D_n, and of D_m: row sums of D_n B D_n, about the pixel counts."""
        mass = np.bincount(self.vertex)
        n = np.ones(self.count)
        for _ in range(BISTOCHASTISATION_STEPS):
            n = np.sqrt(n * mass / (self.blur @ n))
        return n, n * (self.blur @ n)


def _cells(feature: Array) -> Indices:
    return feature.reshape(-1).astype(np.int64)


def _blur(occupied: Indices, strides: Indices) -> sparse.csr_array:
    count = len(occupied)
    here, there = [], []
    for stride in strides:
        neighbour = np.searchsorted(occupied, occupied + stride)
        found = np.flatnonzero(occupied[np.minimum(neighbour, count - 1)] == occupied + stride)
        here.append(found)
        there.append(neighbour[found])
    rows, columns = np.concatenate(here), np.concatenate(there)
    ones = np.ones(len(rows), np.float32)
    above = sparse.csr_array((ones, (rows, columns)), (count, count))
    return above + above.T + 2 * len(strides) * sparse.eye_array(count, dtype=np.float32)


def bilateral_solver(
    target: Array, confidence: Array, grid: BilateralGrid, smoothness: float
) -> Array:
    """(C, H, W) solutions for targets (C, H, W) of one confidence (H, W) > 0."""
    n, mass = grid.bistochastise()
    certain = confidence.reshape(-1)
    scale = sparse.diags_array(n)
    weight = grid.splat(certain)
    # In double precision up to here: of a vertex without neighbours nothing is to be left.
    matrix = smoothness * (sparse.diags_array(mass) - scale @ grid.blur @ scale)
    matrix = sparse.csr_array(matrix + sparse.diags_array(weight), dtype=np.float32)
    solved = []
    for channel in target.reshape(len(target), -1):
        right = grid.splat(certain * channel)
        solved.append(conjugate_gradients(matrix, right, right / weight)[grid.vertex])
    return np.stack(solved).reshape(target.shape)


def bump_confidence(size: tuple[int, int], factor: int, offset: float, bump: float) -> Array:
    """(H, W): 1 at samples, a Gaussian of ``bump`` low-resolution pixels around them."""
    down, across = (
        np.exp(-0.5 * (distance_to_sample(length // factor, factor, offset) / (bump * factor)) ** 2)
        for length in size
    )
    return np.maximum(down[:, None] * across, LEAST_CONFIDENCE)


@methods.register("fbs")
class FastBilateralSolver(ArrayMethod):
    info = MethodInfo(
        title="FBS",
        paper="Barron & Poole, The fast bilateral solver",
        year=2016,
        task="upsample",
        learnable=False,
        backends=("scipy",),
    )
    Params = FastBilateralSolverParams

    def filter(self, low: Array, guide: Array) -> Array:
        p = self.params
        grid = BilateralGrid(guide, (p.sigma_spatial, p.sigma_luma, p.sigma_chroma))
        size = (guide.shape[1], guide.shape[2])
        confidence = bump_confidence(size, self.factor, self.offset, p.bump)
        target = grow(low, self.factor, self.offset)
        return within_range(bilateral_solver(target, confidence, grid, p.smoothness), low)
