"""YAML with the line of every key, read safely: no Python tags, no bombs, no duplicate keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from pacbench.errors import UserError
from pacbench.suite.problems import Location, Problem, SuiteError

MAX_BYTES = 1_000_000
MAX_NODES = 50_000


def read_text(path: Path) -> str:
    """The text of a suite file; an unreadable or oversized one is a ``UserError``."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise UserError(
                f"{path}: the file has {size:,} bytes; a suite has at most {MAX_BYTES:,}"
            )
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: is not UTF-8 text (byte {error.start})") from None


def parse(text: str, origin: str) -> tuple[Any, dict[Location, int]]:
    """The data in ``text`` and the line of every key and item in it."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is None:
            raise SuiteError(origin, [Problem((), "the file is empty; a suite is a mapping")], {})
        lines, problems = _walk(node)
        if problems:
            raise SuiteError(origin, problems, lines)
        data = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SuiteError(origin, [Problem((), _explain(error))], {(): line}) from None
    except yaml.YAMLError as error:
        raise SuiteError(origin, [Problem((), f"not YAML: {error}")], {}) from None
    except RecursionError:
        raise SuiteError(origin, [Problem((), "nested too deeply to be a suite")], {}) from None
    except ValueError as error:  # a scalar that only looks like a date or a number
        raise SuiteError(origin, [Problem((), f"not YAML: {error}")], {}) from None
    return data, lines


def _explain(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or "cannot be read"
    if "'\\t'" in problem:
        return "YAML does not allow tabs for indentation; use spaces"
    if isinstance(error, yaml.constructor.ConstructorError):
        return f"{problem}: only plain YAML values are allowed in a suite"
    return f"not YAML: {problem}"


def _walk(root: yaml.Node) -> tuple[dict[Location, int], list[Problem]]:
    lines: dict[Location, int] = {}
    problems: list[Problem] = []
    for count, (location, line, repeated) in enumerate(_places(root, ())):
        if count >= MAX_NODES:
            problems.append(
                Problem((), f"more than {MAX_NODES:,} values once aliases are expanded")
            )
            break
        if repeated:
            problems.append(Problem(location, "this key stands twice"))
        lines[location] = line
    return lines, problems


def _places(node: yaml.Node, location: Location) -> Iterator[tuple[Location, int, bool]]:
    if not location:
        yield (), node.start_mark.line + 1, False
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            place = (*location, str(key.value))
            yield place, key.start_mark.line + 1, place in seen
            seen.add(place)
            yield from _places(value, place)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield (*location, index), item.start_mark.line + 1, False
            yield from _places(item, (*location, index))
