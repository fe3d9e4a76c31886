"""What upsampling networks share: weights, cost and parameters."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, cast

from pydantic import Field
from torch import Tensor, nn

from pacbench.baselines.upsampling.base import Prepared, UpsampleMethod, UpsampleParams
from pacbench.errors import UserError
from pacbench.method import Architecture, Context, LearnableMethod
from pacbench.timing.cost import Cost
from pacbench.timing.network_cost import network_cost
from pacbench.train.weights import load_weights

FILTER = "filter"
UNTRAINED = "untrained: what a training starts from, not what the network can do"


class NetworkParams(UpsampleParams):
    """What every upsampling network has."""

    weights: str | None = Field(
        None,
        description="trained weights: a file, or the name of some that come with pacbench; "
        "{target} and {factor} in it stand for those of the protocol",
    )
    start: str | None = Field(
        None,
        description="weights, as above, that a training begins with, or `filter`, for networks "
        "that can begin as one: DJF as bilinear interpolation, PAC as a joint bilateral filter; "
        "used without `weights`",
    )


class UpsampleNetwork(UpsampleMethod, LearnableMethod):
    """A torch module from (low, guide) to the full map: see :meth:`network`."""

    Params = NetworkParams

    def __init__(self, params: NetworkParams, context: Context) -> None:
        super().__init__(params, context)
        self.module = self.network(context.backend)
        weights = params.weights or params.start
        if weights == FILTER:
            if not hasattr(self.module, "start_as_filter"):
                raise UserError(f"'{self.info.title}' cannot start as a filter")
            cast(Any, self.module).start_as_filter()
        elif weights is not None:
            name = weights.replace("{factor}", str(self.factor))
            name = name.replace("{target}", self.protocol.target)
            self.weights_sha256 = load_weights(self.module, name)
        self.module.to(context.device).eval()

    @abstractmethod
    def network(self, backend: str) -> nn.Module:
        """A network for the factor and the channels of the protocol, with fresh weights.

        Its ``layers()`` tell what it is made of, as :class:`Architecture` has it.
        """

    def upsample(self, low: Tensor, guide: Tensor) -> Tensor:
        output: Tensor = self.module(low, guide)
        return output

    def cost(self, inputs: Prepared) -> Cost:
        return network_cost(self.module, inputs.low, inputs.guide)

    def architecture(self) -> Architecture:
        parameters = sum(p.numel() for p in self.module.parameters())
        return Architecture(parameters=parameters, layers=cast(Any, self.module).layers())
