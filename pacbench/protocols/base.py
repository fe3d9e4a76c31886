"""What the protocols of all tasks have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class ProtocolParams(BaseModel):
    """How a task makes inputs of samples, as it stands under ``protocol:`` in a suite.

    This one is of tasks that take samples as they are: it has nothing to choose.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
