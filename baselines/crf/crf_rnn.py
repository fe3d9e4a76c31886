"""CRF-RNN: the dense CRF as a layer; kernel weights and compatibility are learned, filters are not.

Zheng et al. weight each kernel by a factor per label. Their code normalises a message by K·1 after
the filter; here it is pydensecrf's symmetric normalisation, so that with equal parameters the
inference is that of ``full_crf``.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from pacbench.baselines.crf.lattice_crf import LatticeCRF, LatticeCRFParams
from pacbench.kernels import PermutohedralLattice
from pacbench.method import Context, MethodInfo, methods
from pacbench.tasks.crf import TorchCRF, crf_inputs


class CRFRNN(LatticeCRF):
    """Gaussian kernels with a learned weight for every label: ``kernel_weights.0`` (L,)."""

    def __init__(self, channels: int, params: LatticeCRFParams, *, backend: str = "auto") -> None:
        super().__init__(channels, params, backend=backend)
        self.kernel_weights = nn.ParameterList(
            nn.Parameter(torch.full((channels,), weight)) for weight in (params.w1, params.w2)
        )

    def filter(self, index: int, lattice: PermutohedralLattice, values: Tensor) -> Tensor:
        return lattice.filter(values)

    def initial_filter(self, index: int, lattice: PermutohedralLattice, values: Tensor) -> Tensor:
        return lattice.filter(values)

    def weighted(self, index: int, message: Tensor) -> Tensor:
        return message * self.kernel_weights[index].view(-1, 1, 1)


@methods.register("crf_rnn")
class CRFRNNMethod(TorchCRF):
    info = MethodInfo(
        title="CRF-RNN",
        paper="Zheng et al., Conditional random fields as recurrent neural networks",
        year=2015,
        task="crf",
        learnable=True,
        backends=("native", "reference"),
        note="untrained: Full-CRF's parameters, from which training starts",
    )
    Params = LatticeCRFParams

    def __init__(self, params: LatticeCRFParams, context: Context) -> None:
        labels = len(crf_inputs(context.example)[1])
        crf = CRFRNN(labels, params, backend=context.backend)
        super().__init__(crf, params, context.device)
