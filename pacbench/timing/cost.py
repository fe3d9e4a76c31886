"""What a call costs by its formula, whatever the machine."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Cost(BaseModel):
    """Floating-point operations and bytes of one call.

    Attributes:
        flops: additions and multiplications, a multiply-add being two; an exponential is one.
        bytes: inputs, parameters and outputs, each moved once: the least that memory must carry.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    flops: float
    bytes: float
