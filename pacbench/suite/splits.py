"""Other splits of a suite's data than the one it reports on, for training and tuning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from pacbench.data.base import Dataset, datasets
from pacbench.errors import UserError
from pacbench.suite.problems import problems_of
from pacbench.suite.schema import DataSpec


def open_split(
    data: DataSpec, split: str, seed: int, changes: Mapping[str, Any], section: str
) -> Dataset:
    """A split of the dataset that a suite names.

    Args:
        data: the suite's.
        split: which.
        seed: of what the dataset draws.
        changes: parameters that differ here. Those that only other datasets have are left out: in
            a suite whose dataset was exchanged, they are of the one that it came with.
        section: of the suite that they stand in, for messages.

    Raises:
        UserError: a parameter that no dataset has, a value that this one does not allow, or
            whatever is wrong with its files.
    """
    cls = datasets[data.name]
    known = {field for name in datasets for field in datasets[name].Params.model_fields}
    elsewhere = known - cls.Params.model_fields.keys()
    own = {key: value for key, value in changes.items() if key not in elsewhere}
    try:
        params = cls.Params(**{**data.params, **own})
    except ValidationError as error:
        problems = problems_of(error, cls.Params, (section, "params"))
        raise UserError("\n".join(problem.render("suite", {}) for problem in problems)) from None
    return cls(params, split=split, seed=seed)
