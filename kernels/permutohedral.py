"""Gaussian filters and learned ones in a space of features, by the permutohedral lattice.

Adams et al. 2010 (fast high-dimensional filtering) and Jampani et al. 2016 (bilateral convolution
layers, whose filters on the lattice are learned).
"""

from __future__ import annotations

import copy
from types import ModuleType
from typing import cast

import torch
from torch import Tensor

from pacbench.kernels import arguments as check
from pacbench.kernels import ops, permutohedral_ops, permutohedral_reference
from pacbench.kernels import permutohedral_taps as taps
from pacbench.kernels.autocast import float32_under_autocast
from pacbench.kernels.backend import choose

MAX_DIMENSIONS = 16


@float32_under_autocast
def permutohedral_filter(
    features: Tensor,
    values: Tensor,
    weight: Tensor | None = None,
    neighbourhood: int = 1,
    *,
    backend: str | None = None,
) -> Tensor:
    """Filters ``values`` among pixels with near features; see :meth:`PermutohedralLattice.filter`.

    Args:
        features: (B, D, H, W), scaled so that the Gaussian has standard deviation 1.
        values: (B, C, H, W).
        weight: None for the Gaussian, or a filter (1 or C, taps).
        neighbourhood: how far the filter ``weight`` reaches, in steps on the lattice.
        backend: 'reference', 'native' or 'auto'; None is the process's (``set_backend``).

    Returns:
        (B, C, H, W). Differentiable by values and weight; features get no gradient.
    """
    return PermutohedralLattice(features, backend=backend).filter(values, weight, neighbourhood)


class PermutohedralLattice:
    """The lattice around the features of some images: built once, for as many filters as needed.

    Args:
        features: (B, D, H, W), scaled so that the Gaussian has standard deviation 1; D up to 16.
            A constant: no gradient flows to them.
        backend: as for :func:`permutohedral_filter`.

    Raises:
        ValueError: for features that are not such images, not finite, or beyond ±32768.
    """

    def __init__(self, features: Tensor, *, backend: str | None = None) -> None:
        check.has_shape("features", features, (None, None, None, None))
        check.same_kind(features=features)
        self.size = tuple(features.shape)
        batch, self.dimensions, height, width = self.size
        if self.dimensions > MAX_DIMENSIONS:
            raise ValueError(
                f"features has shape {self.size}; expected at most {MAX_DIMENSIONS} channels"
            )
        if batch * height * width * (self.dimensions + 1) >= 1 << 31:
            raise ValueError(
                f"features has shape {self.size}: too many pixels for one lattice; expected "
                f"batch · height · width · (channels + 1) below 2^31"
            )
        native = choose(backend, (features,), devices=("cpu",)) is ops
        self._module: ModuleType = permutohedral_ops if native else permutohedral_reference
        self._lattice = self._module.build(features.detach())
        self._neighbours: dict[int | None, Tensor] = {}

    def scaled(self, factor: Tensor) -> PermutohedralLattice:
        """The lattice whose filters multiply by ``factor`` (B, 1, H, W) before and after.

        Costs nothing when filtering: pixels then count by their factor. No gradient flows to it.
        """
        batch, _, height, width = self.size
        check.has_shape("factor", factor, (batch, 1, height, width))
        check.same_kind(features=self._lattice.barycentric, factor=factor)
        scaled = copy.copy(self)
        scaled._lattice = self._module.scaled(self._lattice, factor.detach().reshape(-1))
        return scaled

    @property
    def points(self) -> int:
        """How many lattice points there are, over all images."""
        return len(self._lattice.keys)

    @float32_under_autocast
    def filter(
        self, values: Tensor, weight: Tensor | None = None, neighbourhood: int = 1
    ) -> Tensor:
        """Splats ``values`` (B, C, H, W) onto the lattice, filters there, and slices.

        Without ``weight``: blurs (½, 1, ½) along every axis, which is about
        Σ_j exp(−½|f_i − f_j|²) v_j. It is a sum: divide by the result for ones to get a mean.

        With ``weight`` (taps,) = one filter for all channels as (1, taps), or one for each as
        (C, taps): sums the points within ``neighbourhood`` n steps times the filter's
        (n+1)^(D+1) − n^(D+1) taps. Tap 0 is the point itself, taps 2k − 1 and 2k lie opposite each
        other (:mod:`pacbench.kernels.permutohedral_taps`); :func:`gaussian_weight` is where to
        start from.
        """
        batch, _, height, width = self.size
        check.has_shape("values", values, (batch, None, height, width))
        barycentric = self._lattice.barycentric
        check.same_kind(features=barycentric, values=values, weight=weight)
        if weight is None:
            scale = taps.blur_scale(self.dimensions)
            axes = self._neighbourhood(None)
            return cast(Tensor, self._module.blur(values, self._lattice, axes, scale))
        if neighbourhood < 0 or taps.count(self.dimensions, neighbourhood) > taps.MAX_TAPS:
            raise ValueError(
                f"neighbourhood is {neighbourhood}; expected at least 0, and at most "
                f"{taps.MAX_TAPS} taps with {self.dimensions} features"
            )
        width_of_filter = taps.count(self.dimensions, neighbourhood)
        check.has_shape("weight", weight, (1, width_of_filter), (values.shape[1], width_of_filter))
        near = self._neighbourhood(neighbourhood)
        return cast(Tensor, self._module.convolve(values, weight, self._lattice, near))

    def _neighbourhood(self, neighbourhood: int | None) -> Tensor:
        """Neighbours (n, M, 2) within so many steps, or along the axes of the blur (None)."""
        if neighbourhood not in self._neighbours:
            steps = (
                torch.eye(self.dimensions + 1, dtype=torch.int64)
                if neighbourhood is None
                else taps.steps(self.dimensions, neighbourhood)[1::2]
            )
            self._neighbours[neighbourhood] = self._module.neighbours(
                self._lattice, taps.offsets(steps)
            )
        return self._neighbours[neighbourhood]
