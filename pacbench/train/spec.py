"""How a method is trained, as it stands under ``training:`` in a suite."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(gt=0, lt=1)]


class TrainingSpec(BaseModel):
    """Adam on random crops, its learning rate divided by ten at each milestone."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    split: str = Field("train", description="the dataset's split to learn from")
    validation_split: str = Field(
        "val", description="the split that decides which weights are kept; not the one reported on"
    )
    params: dict[str, Any] = Field(
        default_factory=dict, description="parameters of the dataset that differ in training"
    )
    iterations: int = Field(400, ge=1, description="steps of the optimiser")
    batch: int = Field(2, ge=1, description="crops in a step")
    crop: list[int] = Field(
        default=[192, 256], min_length=2, max_length=2, description="height and width in pixels"
    )
    learning_rate: float = Field(1e-3, gt=0)
    milestones: list[Share] = Field(
        default=[0.6, 0.9],
        description="shares of the iterations after which the learning rate is divided by ten",
    )
    validate_every: int = Field(50, ge=1, description="steps between validations")
    validation_samples: int = Field(8, ge=1, description="scored in a validation")
    patience: int | None = Field(
        None, ge=1, description="stop after so many validations without a better score"
    )
    cached_samples: int = Field(64, ge=1, description="samples of the split kept in memory")

    def learning_rate_at(self, iteration: int) -> float:
        """The learning rate of a step, counted from 0; it depends on nothing else."""
        passed = sum(iteration >= share * self.iterations for share in self.milestones)
        return float(self.learning_rate * 0.1**passed)
