"""What all CRFs here share: a set-up from the image, then mean-field steps."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from torch import Tensor, nn


class MeanField(nn.Module):
    """Mean-field inference from logits (B, L, H, W) and RGB levels (B, 3, H, W) to log Q.

    Attributes:
        num_steps: mean-field steps.
    """

    num_steps: int

    @abstractmethod
    def set_up(self, unary: Tensor, image: Tensor) -> Any:
        """What all steps share; ``image`` has the dtype of ``unary``."""

    @abstractmethod
    def step(self, shared: Any, log_q: Tensor) -> Tensor:
        """One step: log Q (B, L, H, W), not normalised."""

    def forward(self, unary: Tensor, image: Tensor) -> Tensor:
        """Log marginals (B, L, H, W), not normalised; log Q starts from the unaries."""
        shared = self.set_up(unary, image.to(unary.dtype))
        log_q = unary
        for _ in range(self.num_steps):
            log_q = self.step(shared, log_q)
        return log_q
