"""What of a dataset is there, and whether it is what its owners published."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from pacbench.data.base import Dataset, DatasetParams, Source
from pacbench.data.fetch import md5_of
from pacbench.errors import UserError


@dataclass(frozen=True)
class Check:
    """One line of the report; ``ok`` is None for what is neither right nor wrong."""

    what: str
    ok: bool | None
    detail: str


def params_for(cls: type[Dataset], root: Path | None, settings: list[str]) -> DatasetParams:
    """The default parameters, with this root and ``key=value`` settings, whose values are YAML.

    Raises:
        UserError: a parameter that is missing, unknown or wrong.
    """
    values: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise UserError(f"--set {setting}: expected key=value")
        try:
            values[key] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise UserError(f"--set {setting}: {error}") from error
    if root is not None:
        values["root"] = root
    try:
        return cls.Params.model_validate(values)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors()
        )
        allowed = ", ".join(cls.Params.model_fields)
        raise UserError(
            f"parameters of dataset '{cls.info.name}': {wrong}; it has {allowed}"
        ) from error


def verify(cls: type[Dataset], params: DatasetParams) -> list[Check]:
    """Checksums of the published files, and for each split its size and a sample at either end."""
    root = Path(getattr(params, "root", "."))
    checks = [_check_source(root / source.filename, source) for source in cls.sources]
    return checks + [_check_split(cls, params, split) for split in cls.info.splits]


def _check_source(path: Path, source: Source) -> Check:
    if not path.is_file():
        if source.archive:
            return Check(path.name, None, "not kept; the splits below tell if it was unpacked")
        return Check(path.name, False, f"missing: no {path}")
    found = md5_of(path)
    if found == source.md5:
        return Check(path.name, True, f"md5 {found}")
    return Check(path.name, False, f"damaged: md5 {found}, expected {source.md5}")


def _check_split(cls: type[Dataset], params: DatasetParams, split: str) -> Check:
    what = f"split {split}"
    try:
        dataset = cls(params, split=split, seed=0)
        count, expected = len(dataset), cls.counts.get(split)
        for index in {0, count - 1} if count else ():
            dataset[index]
    except UserError as error:
        return Check(what, False, str(error))
    if expected is not None and count != expected:
        return Check(what, False, f"{count} samples, expected {expected}")
    return Check(what, True, f"{count} samples")
