"""How parameters are searched for, as it stands under ``tuning:`` in a suite."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Positive = Annotated[float, Field(gt=0)]
Values = Annotated[list[Positive], Field(min_length=1)]


class TuningSpec(BaseModel):
    """A grid per method, on samples of a split that the suite does not report on."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    split: str = Field("train", description="the dataset's split to search on")
    samples: int = Field(8, ge=1, description="of that split")
    params: dict[str, Any] = Field(
        default_factory=dict, description="parameters of the dataset that differ in tuning"
    )
    grids: dict[str, dict[str, Values]] = Field(
        description="per method, by name: the values of each parameter that are all combined"
    )
    step: float = Field(
        1.6, gt=1, description="factor between the values that are tried around the grid's best"
    )
    rounds: int = Field(2, ge=0, description="searches around the best, each with a finer step")
    gain: float = Field(
        0.001, ge=0, lt=1, description="share of the score that such a step has to gain"
    )
