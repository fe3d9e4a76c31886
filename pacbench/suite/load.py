"""Reading a suite: a file of the user's or one that comes with the package, with overrides."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from pacbench.errors import UserError, did_you_mean, listing
from pacbench.method import DeviceName
from pacbench.suite.cells import Cell, matches
from pacbench.suite.expand import expand
from pacbench.suite.problems import Location, Problem, SuiteError, problems_of
from pacbench.suite.schema import Suite
from pacbench.suite.yaml_file import parse, read_text


@dataclass(frozen=True)
class Source:
    """A valid suite and where it came from.

    Attributes:
        suite: the validated suite, overrides applied.
        origin: the path it was read from, as the user gave it.
        text: YAML that gives the same suite: the file itself when nothing was overridden.
        lines: the line of every key, for messages.
    """

    suite: Suite
    origin: str
    text: str
    lines: dict[Location, int | str]

    def cells(self, device: DeviceName, threads: int, only: dict[str, str]) -> list[Cell]:
        """The cells of the suite that match ``only``; a suite with mistakes in it raises."""
        cells, problems = expand(self.suite, device, threads)
        if problems:
            raise SuiteError(self.origin, problems, self.lines)
        known = {key for cell in cells for key in cell.facts()}
        for key in only.keys() - known:
            raise UserError(
                f"--filter {key}={only[key]}: no cell has '{key}'{did_you_mean(key, known)}; "
                f"allowed: {listing(known)}"
            )
        chosen = [cell for cell in cells if matches(cell, only)]
        if not chosen:
            wanted = " ".join(f"--filter {key}={value}" for key, value in only.items())
            labels = listing({cell.label for cell in cells})
            raise UserError(f"{wanted}: none of the {len(cells)} cells matches; methods: {labels}")
        return chosen


def load_suite(name: str, overrides: list[str] | None = None) -> Source:
    """Read and validate a suite.

    Args:
        name: a path, or the name of a suite that comes with the package (``crf``).
        overrides: ``key=value`` with a dotted key and a YAML value (``data.limit=2``).
    """
    text = read_text(find_suite(name))
    data, positions = parse(text, name)
    lines: dict[Location, int | str] = dict(positions)
    if not isinstance(data, dict):
        kind = type(data).__name__
        raise SuiteError(name, [Problem((), f"a suite is a mapping; this is a {kind}")], lines)
    if overrides:
        data = copy.deepcopy(data)  # aliases share objects, an override must not
        for override in overrides:
            _override(data, override, lines)
        made = f"# {name} with " + " ".join(f"--set {override}" for override in overrides)
        text = made.replace("\n", " ") + "\n" + yaml.safe_dump(data, sort_keys=False)
    try:
        return Source(Suite.model_validate(data), name, text, lines)
    except ValidationError as error:
        raise SuiteError(name, problems_of(error, Suite), lines) from None


def packaged_suites() -> list[Path]:
    """The suites that come with the package."""
    folder = files("pacbench.suites")
    return sorted(Path(str(item)) for item in folder.iterdir() if item.name.endswith(".yaml"))


def find_suite(name: str) -> Path:
    """The file behind a path or the name of a packaged suite."""
    path = Path(name)
    if path.is_dir():
        raise UserError(f"{name}: is a folder; name a suite file in it")
    if path.exists():
        return path
    packaged = {item.stem: item for item in packaged_suites()}
    if path.stem in packaged and str(path.parent) in (".", "suites"):
        return packaged[path.stem]
    raise UserError(
        f"{name}: no such file, and no suite of that name comes with pacbench"
        f"{did_you_mean(path.stem, packaged)}; it has {listing(packaged)}"
    )


def _override(data: dict[str, Any], override: str, lines: dict[Location, int | str]) -> None:
    key, equals, value = override.partition("=")
    if not equals or not key:
        raise UserError(f"--set {override}: should be KEY=VALUE, for example --set repeats=3")
    try:
        parsed = yaml.safe_load(value)
    except yaml.YAMLError:
        raise UserError(f"--set {override}: the value is not YAML") from None
    *parents, last = (int(part) if part.isdigit() else part for part in key.split("."))
    holder: Any = data
    location: Location = ()
    for part in parents:
        location = (*location, part)
        if isinstance(holder, dict) and holder.get(part) is None:
            holder[part] = {}
        holder = _child(holder, part, override)
    _child(holder, last, override, missing_ok=True)
    holder[last] = parsed
    location = (*location, last)
    for place in [place for place in lines if place[: len(location)] == location]:
        del lines[place]
    lines[location] = f"--set {override}"


def _child(holder: Any, part: int | str, override: str, missing_ok: bool = False) -> Any:
    if isinstance(holder, dict) and (missing_ok or part in holder):
        return holder.get(part)
    if isinstance(holder, list) and isinstance(part, int) and part < len(holder):
        return holder[part]
    allowed = (
        f"an index below {len(holder)}" if isinstance(holder, list) else "a mapping to put it in"
    )
    raise UserError(f"--set {override}: there is no '{part}' here; expected {allowed}")
