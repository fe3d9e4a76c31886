"""PAC-CRF whose mean-field steps do not share their weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from torch import Tensor, nn

from pacbench.pac.crf import FinalOutput, Guides, PacCRF, as_output
from pacbench.pac.pairwise import check_word


class PacCRFLoose(nn.Module):
    """:class:`PacCRF` whose mean-field steps have weights of their own; same arguments."""

    def __init__(
        self,
        channels: int,
        num_steps: int,
        final_output: FinalOutput = "log_Q",
        perturbed_init: bool = True,
        native_impl: bool = False,
        fixed_weighting: bool = False,
        unary_weight: float = 1.0,
        pairwise_kernels: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        *,
        backend: str = "auto",
    ) -> None:
        super().__init__()
        check_word("final_output", final_output, get_args(FinalOutput))
        self.channels = channels
        self.num_steps = num_steps
        self.final_output = final_output
        self.steps = nn.ModuleList(
            PacCRF(
                channels,
                1,
                "log_Q",
                perturbed_init,
                native_impl,
                fixed_weighting,
                unary_weight,
                pairwise_kernels,
                backend=backend,
            )
            for _ in range(num_steps)
        )

    def add_pairwise_kernel(self, *args: Any, **kwargs: Any) -> None:
        """See :meth:`PacCRF.add_pairwise_kernel`."""
        for step in self._steps():
            step.add_pairwise_kernel(*args, **kwargs)

    def num_pairwise_kernels(self) -> int:
        return self._steps()[0].num_pairwise_kernels()

    def reset_parameters(self) -> None:
        """Set all weights to their initial values."""
        for step in self._steps():
            step.reset_parameters()

    def forward(
        self,
        unary: Tensor,
        edge_feat: Guides | None,
        edge_kernel: Tensor | Sequence[Tensor | None] | None = None,
    ) -> Tensor:
        """See :meth:`PacCRF.forward`."""
        if edge_kernel is None and edge_feat is not None:
            edge_kernel = self._steps()[0].edge_kernels(edge_feat)
        log_q = unary
        for step in self._steps():
            log_q = step(unary, None, edge_kernel, log_q)
        return as_output(log_q, self.final_output)

    def _steps(self) -> list[PacCRF]:
        return list(self.steps)  # type: ignore[arg-type]
