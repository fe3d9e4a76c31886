"""BCL-CRF: a dense CRF whose filters on the permutohedral lattice are learned.

Jampani et al. replace the Gaussian of a dense CRF by bilateral convolution layers: a filter over
the nearest neighbours of each lattice point, which starts as a Gaussian.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from pacbench.baselines.crf.lattice_crf import LatticeCRF, LatticeCRFParams
from pacbench.kernels import PermutohedralLattice, gaussian_weight
from pacbench.kernels.permutohedral_taps import gaussian_deviation
from pacbench.method import Context, MethodInfo, methods
from pacbench.tasks.crf import TorchCRF, crf_inputs

DIMENSIONS = (5, 2)  # of the appearance and the smoothness kernel


class BCLCRF(LatticeCRF):
    """One learned filter per kernel for all labels: ``filters.0`` (1, 63) and ``filters.1`` (1, 7).

    A filter of one step is narrower than the Gaussian blur; features are scaled so that it is as
    wide as θ says nonetheless. Messages are normalised by the initial Gaussian: what is learned may
    be negative.
    """

    def __init__(self, channels: int, params: LatticeCRFParams, *, backend: str = "auto") -> None:
        super().__init__(channels, params, backend=backend)
        self.kernel_weights = nn.ParameterList(
            nn.Parameter(torch.tensor(weight)) for weight in (params.w1, params.w2)
        )
        self.filters = nn.ParameterList(nn.Parameter(gaussian_weight(d)) for d in DIMENSIONS)

    def filter(self, index: int, lattice: PermutohedralLattice, values: Tensor) -> Tensor:
        return lattice.filter(values, self.filters[index])

    def initial_filter(self, index: int, lattice: PermutohedralLattice, values: Tensor) -> Tensor:
        return lattice.filter(values, gaussian_weight(DIMENSIONS[index]).to(values))

    def weighted(self, index: int, message: Tensor) -> Tensor:
        return message * self.kernel_weights[index]

    def feature_scale(self, dimensions: int) -> float:
        return gaussian_deviation(dimensions)


@methods.register("bcl_crf")
class BCLCRFMethod(TorchCRF):
    info = MethodInfo(
        title="BCL-CRF",
        paper="Jampani et al., Learning sparse high dimensional filters",
        year=2016,
        task="crf",
        learnable=True,
        backends=("native", "reference"),
        note="untrained: the Gaussian filters and Potts compatibility that training starts from",
    )
    Params = LatticeCRFParams

    def __init__(self, params: LatticeCRFParams, context: Context) -> None:
        labels = len(crf_inputs(context.example)[1])
        crf = BCLCRF(labels, params, backend=context.backend)
        super().__init__(crf, params, context.device)
