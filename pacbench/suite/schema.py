"""The shape of a suite file; parameters are validated by their method's or dataset's ``Params``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from pacbench.method import TaskName
from pacbench.train.spec import TrainingSpec
from pacbench.tune.spec import TuningSpec

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=64)]
DeviceChoice = Literal["cpu", "cuda", "auto"]
TableFormat = Literal["md", "latex", "csv", "json"]
FigureFormat = Literal["png", "pdf", "svg"]
ColumnName = Literal[
    "score",
    "gain",
    "edge",
    "runtime",
    "setup",
    "step",
    "memory",
    "parameters",
    "macs",
    "layers",
    "rate",
    "bandwidth",
    "share",
    "backend",
    "device",
]


def _empty_if_none(value: Any) -> Any:
    return {} if value is None else value  # `params:` with nothing after it


Params = Annotated[dict[str, Any], BeforeValidator(_empty_if_none)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class DataSpec(Strict):
    """Which samples."""

    name: str = Field(description="a registered dataset; see `pacbench list datasets`")
    split: str = Field("val", description="one of the dataset's splits")
    limit: int | None = Field(None, ge=1, description="use at most this many samples")
    params: Params = Field(default_factory=dict, description="the dataset's own parameters")


class MethodSpec(Strict):
    """One method of the comparison, with its parameters."""

    name: str = Field(description="a registered method; see `pacbench list methods`")
    label: str | None = Field(None, min_length=1, description="what tables call it")
    backend: str = Field("auto", description="auto, or one of the method's backends")
    paper_row: str | None = Field(None, description="its row in the paper's table")
    params: Params = Field(default_factory=dict, description="the method's own parameters")
    params_at: dict[str, dict[Any, Params]] = Field(
        default_factory=dict,
        description="parameters that go with a value of the protocol or of an axis: "
        "`{factor: {4: {…}, 8: {…}}}`",
    )


class Limits(Strict):
    """What one cell may use before it is stopped."""

    seconds: float = Field(600, gt=0, le=86_400, description="wall time of a cell once loaded")
    memory_gb: float = Field(8, gt=0, le=4096, description="memory a cell may allocate, GB")


class TimingSpec(Strict):
    """How precisely cells are timed."""

    precision: float = Field(
        0.02, gt=0, le=1, description="go on until the median is known to ± this share of it"
    )
    budget_seconds: float = Field(
        20, ge=0, le=86_400, description="time a cell may spend on that beyond its repeats"
    )
    processes: int = Field(2, ge=1, le=1000, description="fresh processes that share the repeats")
    cuda_graphs: bool = Field(False, description="time captured CUDA graphs, where there are some")


class Outputs(Strict):
    """What is written besides the records."""

    tables: list[TableFormat] = Field(default=["md", "latex", "csv", "json"])
    columns: list[ColumnName] = Field(
        default=[], description="columns of the table; default: those of the task"
    )
    rows: list[str] = Field(
        default=[],
        description="rows of the table: names or labels of methods, globs; default: all",
    )
    across: str | None = Field(
        None, description="a swept axis whose values stand side by side, such as factor"
    )
    figures: list[FigureFormat] = Field(default=["png"])
    pictures: int = Field(
        2,
        ge=0,
        le=100,
        description="how many samples are kept to look at: those with the most edges in the truth",
    )


class Suite(Strict):
    """What is run: methods × sweep over data, and how it is measured."""

    name: Name = Field(description="short name, used for the run folder")
    title: str = Field("", description="caption of the tables")
    task: TaskName = Field(description="what the methods are compared on")
    paper_table: str | None = Field(None, description="the paper's table that this one mirrors")
    protocol: Params = Field(
        default_factory=dict, description="how the task makes its inputs: the task's own parameters"
    )
    data: DataSpec
    methods: list[MethodSpec] = Field(min_length=1)
    sweep: dict[str, list[Any]] = Field(
        default_factory=dict,
        description="lists that multiply into cells: a parameter of the protocol or of methods, "
        "`backend`, `threads`, or `data.PARAMETER`",
    )
    exclude: list[dict[str, Any]] = Field(
        default_factory=list, description="combinations to drop; all keys of an entry must match"
    )
    training: TrainingSpec | None = Field(None, description="what `pacbench train` does")
    tuning: TuningSpec | None = Field(None, description="what `pacbench tune` searches")
    repeats: int = Field(5, ge=1, le=100_000, description="least timed blocks per sample")
    warmup: int = Field(1, ge=0, le=1000, description="least untimed runs of each process")
    timing: TimingSpec = TimingSpec()
    seed: int = Field(0, ge=0, lt=2**32)
    device: DeviceChoice = "cpu"
    threads: int | None = Field(None, ge=1, le=1024, description="default: all cores")
    limits: Limits = Limits()
    outputs: Outputs = Outputs()

    @field_validator("sweep")
    @classmethod
    def _axes_have_values(cls, sweep: dict[str, list[Any]]) -> dict[str, list[Any]]:
        for axis, values in sweep.items():
            if not values:
                raise ValueError(f"axis '{axis}' is an empty list, which makes zero cells")
        return sweep
