"""What is wrong with a suite, said so that it can be put right: line, key, value, the allowed."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from pacbench.errors import UserError, did_you_mean, listing

Location = tuple[int | str, ...]
Lines = Mapping[Location, int | str]


@dataclass(frozen=True, order=True)
class Problem:
    """One thing wrong, at a place in the file; ``location`` is () for the file as a whole."""

    location: Location
    message: str

    def render(self, origin: str, lines: Lines) -> str:
        key = ".".join(str(part) for part in self.location)
        line = line_of(self.location, lines)
        place = line if isinstance(line, str) else f"{origin}:{line}" if line else origin
        return f"{place}: {key}: {self.message}" if key else f"{place}: {self.message}"


class SuiteError(UserError):
    """All that is wrong with one suite."""

    def __init__(self, origin: str, problems: Iterable[Problem], lines: Lines) -> None:
        unique = dict.fromkeys(problems)
        ordered = sorted(unique, key=lambda p: _reading_order(p, lines))
        super().__init__("\n".join(problem.render(origin, lines) for problem in ordered))
        self.problems = ordered


def line_of(location: Location, lines: Lines) -> int | str | None:
    """The line of a key, or of the nearest thing around it; a text for what stands in no file."""
    for end in range(len(location), -1, -1):
        if location[:end] in lines:
            return lines[location[:end]]
    return None


def _reading_order(problem: Problem, lines: Lines) -> tuple[int, str]:
    line = line_of(problem.location, lines)
    return (line if isinstance(line, int) else 0, str(problem.location))


def problems_of(
    error: ValidationError, model: type[BaseModel], prefix: Location = ()
) -> list[Problem]:
    """A pydantic error as problems in this package's words."""
    return [
        Problem(prefix + detail["loc"], _message(detail, model))
        for detail in error.errors(include_url=False)
    ]


def _message(detail: Mapping[str, Any], model: type[BaseModel]) -> str:
    given, kind = detail["input"], detail["type"]
    if kind == "extra_forbidden":
        allowed = _keys_at(model, detail["loc"][:-1])
        near = did_you_mean(str(detail["loc"][-1]), allowed)
        return f"unknown key{near}; allowed: {listing(allowed)}"
    if kind == "missing":
        return "this key is missing"
    if kind == "literal_error":
        expected = detail["ctx"]["expected"]
        near = did_you_mean(str(given), expected.replace("'", "").replace(" or ", ", ").split(", "))
        return f"got {_short(given)}{near}; allowed: {expected}"
    message = str(detail["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    if kind == "value_error":
        return message
    return f"got {_short(given)}; should be {message}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _keys_at(model: type[BaseModel], location: Location) -> list[str]:
    """The keys that the model nested at ``location`` accepts."""
    current: Any = model
    for part in location:
        if isinstance(part, str) and part in current.model_fields:
            current = _nested_model(current.model_fields[part].annotation) or current
    return list(current.model_fields)


def _nested_model(annotation: Any) -> type[BaseModel] | None:
    """The model inside ``Model``, ``Model | None`` or ``list[Model]``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if typing.get_origin(annotation) in (list, typing.Union, types.UnionType):
        for argument in typing.get_args(annotation):
            if nested := _nested_model(argument):
                return nested
    return None
