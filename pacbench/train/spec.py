"""How a method is trained, as it stands under ``training:`` in a suite."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

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
    iterations: int = Field(400, ge=1, description="steps of the optimiser at a budget of 1")
    budget: float = Field(
        1.0, gt=0, description="share of the iterations that are made; milestones shift with them"
    )
    batch: int = Field(2, ge=1, description="crops in a step")
    crop: list[int] = Field(
        default=[192, 256], min_length=2, max_length=2, description="height and width in pixels"
    )
    low_crop: int = Field(
        1,
        ge=1,
        description="upsampling: height and width, at least, of the low-resolution map of a crop, "
        "in its own pixels: larger factors take larger crops. In small ones nearly every pixel is "
        "close to the border, where zeros are what a network sees of the rest",
    )
    learning_rate: float = Field(
        1e-3, gt=0, description="of weights up to 1; of larger ones, times their initial size"
    )
    milestones: list[Share] = Field(
        default=[0.6, 0.9],
        description="shares of the iterations after which the learning rate is divided by ten",
    )
    frozen: dict[str, Share] = Field(
        default_factory=dict,
        description="parts of the module, by name, and the share of the iterations after which "
        "they begin to learn",
    )
    candidates: int = Field(
        1,
        ge=1,
        description="upsampling: random crops of which the one whose target varies most is taken: "
        "flat walls have little to teach",
    )
    texture: float = Field(
        0.0,
        ge=0,
        le=1,
        description="upsampling: contrast, at most, of random patterns that are laid over guides, "
        "for edges that mean nothing: real images have far more of them than generated ones; "
        "weak ones are more common",
    )
    smooth: float = Field(
        0.0,
        ge=0,
        le=1,
        description="upsampling: share of the crops whose target is blurred until it has no edges: "
        "real ones are smooth nearly everywhere. Best `late`, for a network is first to learn what "
        "edges of the guide are good for, and with `keep: last`",
    )
    late: dict[Literal["candidates", "texture", "smooth"], int | float] = Field(
        default_factory=dict,
        description="what of these differs from the first milestone on, for the last and smallest "
        "steps",
    )
    averaging: Share | None = Field(
        None,
        description="decay per step of a running mean of the weights; the mean is what is "
        "validated and kept, for it is steadier than the weights of one step",
    )
    mixed_precision: bool = Field(
        True, description="compute in bfloat16 where that is safe, on CUDA; a CPU never does"
    )
    validate_every: int = Field(50, ge=1, description="steps between validations")
    validation_samples: int = Field(8, ge=1, description="scored in a validation")
    keep: Literal["best", "last"] = Field(
        "best",
        description="the weights that are kept: of the best validation, or of the last, where what "
        "is learned last does not show in it",
    )
    patience: int | None = Field(
        None, ge=1, description="stop after so many validations without a better score"
    )
    cached_samples: int = Field(64, ge=1, description="samples of the split kept in memory")
    methods: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="per method, by name or label: the keys of `training:` that differ for it",
    )

    @property
    def steps(self) -> int:
        """Steps of the optimiser that are made."""
        return max(1, round(self.iterations * self.budget))

    def learning_rate_at(self, step: int) -> float:
        """The learning rate of a step, counted from 0; it depends on nothing else."""
        passed = sum(step >= share * self.steps for share in self.milestones)
        return float(self.learning_rate * 0.1**passed)

    def frozen_at(self, step: int) -> tuple[str, ...]:
        """Names of the parts that do not learn in a step."""
        return tuple(name for name, share in self.frozen.items() if step < share * self.steps)

    def at(self, progress: float) -> TrainingSpec:
        """As it is once this share of the steps has been made."""
        if not self.late or progress < min(self.milestones, default=0.0):
            return self
        values = self.model_dump()
        return TrainingSpec(**{**values, "late": {}, **values["late"]})

    def for_method(self, *names: str) -> TrainingSpec:
        """As it is for a method of these names; a later name stands above an earlier one."""
        changes: dict[str, Any] = {}
        for name in names:
            changes |= self.methods.get(name, {})
        return TrainingSpec(**{**self.model_dump(), "methods": {}, **changes})

    @model_validator(mode="after")
    def _parts_are_valid(self) -> TrainingSpec:
        self.at(1.0)
        for name in self.methods:
            self.for_method(name)
        return self
