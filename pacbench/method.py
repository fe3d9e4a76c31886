"""What every method is: built from parameters, given samples, run while the clock is on, scored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from pacbench.data.base import Sample
from pacbench.protocols.base import ProtocolParams
from pacbench.registry import Registry
from pacbench.timing.cost import Cost

if TYPE_CHECKING:
    from torch import nn

TaskName = Literal["crf", "upsample", "hotswap", "op"]
DeviceName = Literal["cpu", "cuda"]


@dataclass(frozen=True)
class MethodInfo:
    """What a table, a suite and a reader need to know of a method before it is built.

    Attributes:
        title: the name that tables print.
        paper: authors and title of the work it comes from.
        year: of that work.
        task: what it is compared on.
        learnable: whether it has weights to train.
        devices: where it can run, the preferred one first.
        backends: implementations it has: ``native`` and ``reference`` are this package's own
            kernels and plain torch; any other word names the library that does the work.
        note: what a reader of its row must be told, for example that it is untrained.
    """

    title: str
    paper: str
    year: int
    task: TaskName
    learnable: bool
    devices: tuple[DeviceName, ...] = ("cpu",)
    backends: tuple[str, ...] = ("reference",)
    note: str = ""


class MethodParams(BaseModel):
    """Parameters of a method, as they stand under ``params:`` in a suite."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class Context:
    """What a method is built for: where it runs, and what it will see.

    Attributes:
        example: one of the samples.
        protocol: how the task makes inputs of them.
    """

    device: DeviceName
    backend: str
    threads: int
    seed: int
    example: Sample
    protocol: ProtocolParams = field(default_factory=ProtocolParams)


class Architecture(BaseModel):
    """What a network is made of.

    Attributes:
        parameters: numbers that training finds.
        layers: per branch, in the paper's letters: ``C32`` is a convolution and ``P32`` a
            transposed PAC with 32 filters.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    parameters: int
    layers: dict[str, list[str]] = {}


class Method(ABC):
    """Turns a sample into an output.

    Only ``run`` is timed. ``prepare`` brings a sample to where ``run`` wants it (device, dtype,
    layout); ``finish`` brings the output back as an array for the task to score.
    """

    info: ClassVar[MethodInfo]
    Params: ClassVar[type[MethodParams]]

    @abstractmethod
    def __init__(self, params: Any, context: Context) -> None: ...

    @abstractmethod
    def prepare(self, sample: Sample) -> Any: ...

    @abstractmethod
    def run(self, inputs: Any) -> Any: ...

    @abstractmethod
    def finish(self, output: Any) -> NDArray[np.floating[Any]]: ...

    def cost(self, inputs: Any) -> Cost | None:  # noqa: ARG002, for those who know it
        """FLOPs and bytes of one ``run`` by the method's own formula; None if it has none."""
        return None

    def architecture(self) -> Architecture | None:
        """What the method is made of, if it is a network."""
        return None

    def stages(self, inputs: Any) -> Iterator[str] | None:  # noqa: ARG002, as above
        """``run`` once more, yielding the name of each stage as it ends; None if it has none.

        Names like ``set-up`` and ``step`` stand in records; one that comes again is timed anew.
        """
        return None


class LearnableMethod(Method):
    """A method with weights to train.

    Attributes:
        module: what ``pacbench train`` trains.
        weights_sha256: of the file that its weights come from, as records name it; None where
            they are those that training starts from.
    """

    module: nn.Module
    weights_sha256: str | None = None

    def architecture(self) -> Architecture | None:
        return Architecture(parameters=sum(p.numel() for p in self.module.parameters()))


methods: Registry[Method] = Registry(
    "method", ("pacbench.baselines", "pacbench.pac"), "pacbench.methods"
)
