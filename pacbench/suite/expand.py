"""From a suite to its cells: every method × every combination of the axes that it takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from pydantic import ValidationError

from pacbench.backend import resolve_backend
from pacbench.data.base import Dataset, datasets
from pacbench.errors import did_you_mean, listing
from pacbench.method import DeviceName, Method, methods
from pacbench.protocols.base import ProtocolParams
from pacbench.registry import UnknownNameError
from pacbench.suite.cells import Cell, excluded
from pacbench.suite.problems import Location, Problem, problems_of
from pacbench.suite.schema import DataSpec, MethodSpec, Suite
from pacbench.tasks import tasks

MAX_CELLS = 10_000
DATA_AXIS = "data."
IN_TWO_PLACES = "is also an axis under 'sweep'; keep it in one place"


def expand(suite: Suite, device: DeviceName, threads: int) -> tuple[list[Cell], list[Problem]]:
    """All cells of a suite and all that is wrong with what it names.

    Args:
        suite: a suite of valid shape.
        device: where methods that can, run; the others run on the CPU.
        threads: for cells that sweep no ``threads`` of their own.
    """
    expansion = _Expansion(suite, device, threads)
    cells = [cell for cell in expansion.cells() if not excluded(cell, suite.exclude)]
    problems = expansion.problems
    if not cells and not problems:
        problems.append(Problem(("exclude",), "every combination is excluded: zero cells remain"))
    return cells, problems


class _Expansion:
    """One walk over a suite that collects what is wrong instead of stopping at it."""

    def __init__(self, suite: Suite, device: DeviceName, threads: int) -> None:
        self.suite = suite
        self.device = device
        self.threads = threads
        self.problems: list[Problem] = []
        self.dataset: type[Dataset] | None = None  # once it is known to be right
        self.protocol: type[ProtocolParams] = ProtocolParams

    def cells(self) -> Iterator[Cell]:
        self._check_data()
        self._check_protocol()
        known = {i: cls for i in range(len(self.suite.methods)) if (cls := self._method(i))}
        self._check_axes(known)
        self._check_exclusions(known)
        seen: dict[str, int] = {}
        for index, cls in known.items():
            axes = [axis for axis in self.suite.sweep if self._takes(cls, axis)]
            values = [range(len(self.suite.sweep[axis])) for axis in axes]
            for picks in product(*values):
                cell = self._cell(index, cls, dict(zip(axes, picks, strict=True)))
                if cell is None:
                    continue
                first = seen.setdefault(cell.id, index)
                if len(seen) > MAX_CELLS:
                    self._problem(("sweep",), f"makes more than {MAX_CELLS:,} cells")
                    return
                if first != index:
                    self._problem(("methods", index), f"is the same cell as methods.{first}")
                    continue
                yield cell

    def _problem(self, location: Location, message: str) -> None:
        self.problems.append(Problem(location, message))

    def _check_data(self) -> None:
        data, before = self.suite.data, len(self.problems)
        try:
            cls = datasets[data.name]
        except UnknownNameError as error:
            self._problem(("data", "name"), str(error))
            return
        if self.suite.task not in cls.info.tasks:
            self._problem(
                ("data", "name"),
                f"dataset '{data.name}' serves {listing(cls.info.tasks)}, not '{self.suite.task}'",
            )
        if data.split not in cls.info.splits:
            near = did_you_mean(data.split, cls.info.splits)
            self._problem(
                ("data", "split"),
                f"'{data.split}' is no split of '{data.name}'{near}; "
                f"it has {listing(cls.info.splits)}",
            )
        try:
            cls.Params(**data.params)
        except ValidationError as error:
            self.problems += problems_of(error, cls.Params, ("data", "params"))
        if len(self.problems) == before:
            self.dataset = cls

    def _check_protocol(self) -> None:
        try:
            self.protocol = tasks[self.suite.task].Protocol
        except UnknownNameError as error:
            self._problem(("task",), str(error))
            return
        for axis in set(self.suite.protocol) & set(self.suite.sweep):
            self._problem(("protocol", axis), IN_TWO_PLACES)
        try:
            self.protocol(**self.suite.protocol)
        except ValidationError as error:
            self.problems += problems_of(error, self.protocol, ("protocol",))

    def _method(self, index: int) -> type[Method] | None:
        spec, here = self.suite.methods[index], ("methods", index)
        try:
            cls = methods[spec.name]
        except UnknownNameError as error:
            self._problem((*here, "name"), str(error))
            return None
        if cls.info.task != self.suite.task:
            ours = [name for name in methods if methods[name].info.task == self.suite.task]
            self._problem(
                (*here, "name"),
                f"'{spec.name}' is a method of task '{cls.info.task}', not '{self.suite.task}', "
                f"whose methods are: {listing(ours)}",
            )
            return None
        if spec.backend not in ("auto", *cls.info.backends):
            near = did_you_mean(spec.backend, cls.info.backends)
            self._problem(
                (*here, "backend"),
                f"'{spec.name}' has no backend '{spec.backend}'{near}; "
                f"allowed: auto, {listing(cls.info.backends)}",
            )
            return None
        for axis in set(spec.params) & set(self.suite.sweep):
            self._problem((*here, "params", axis), IN_TWO_PLACES)
        decisive = {*self.protocol.model_fields, *self.suite.sweep}
        for key in spec.params_at.keys() - decisive:
            self._problem(
                (*here, "params_at", key),
                f"is no axis and nothing of the protocol{did_you_mean(key, decisive)}; "
                f"allowed: {listing(decisive)}",
            )
        return cls

    def _takes(self, cls: type[Method], axis: str) -> bool:
        if axis == "backend":
            return any(value in cls.info.backends for value in self.suite.sweep[axis])
        common = axis == "threads" or axis.startswith(DATA_AXIS)
        return common or axis in self.protocol.model_fields or axis in cls.Params.model_fields

    def _check_axes(self, known: Mapping[int, type[Method]]) -> None:
        for axis in self.suite.sweep:
            if known and not any(self._takes(cls, axis) for cls in known.values()):
                allowed = {"backend", "threads", *self.protocol.model_fields}.union(
                    *(c.Params.model_fields for c in known.values())
                )
                self._problem(
                    ("sweep", axis),
                    f"no method here has such a parameter{did_you_mean(axis, allowed)}; "
                    f"allowed: {listing(allowed)}, {DATA_AXIS}PARAMETER",
                )

    def _check_exclusions(self, known: Mapping[int, type[Method]]) -> None:
        parameters = (cls.Params.model_fields for cls in known.values())
        allowed = {"method", "label", "backend", "device", "threads", *self.suite.sweep}
        allowed = allowed.union(self.protocol.model_fields, *parameters)
        for index, entry in enumerate(self.suite.exclude):
            for key in entry.keys() - allowed:
                self._problem(
                    ("exclude", index, key),
                    f"nothing to match{did_you_mean(key, allowed)}; allowed: {listing(allowed)}",
                )

    def _cell(self, index: int, cls: type[Method], picks: Mapping[str, int]) -> Cell | None:
        suite, spec = self.suite, self.suite.methods[index]
        axes = {axis: suite.sweep[axis][pick] for axis, pick in picks.items()}
        shared = {axis: value for axis, value in axes.items() if axis in self.protocol.model_fields}
        own = {axis: value for axis, value in axes.items() if axis in cls.Params.model_fields}
        try:
            protocol = self.protocol(**{**suite.protocol, **shared}).model_dump(mode="json")
            at = _params_at(spec, {**protocol, **axes})
            params = cls.Params(**{**spec.params, **at, **own})
            data = self._data(axes)
            device: DeviceName = self.device if self.device in cls.info.devices else "cpu"
            backend = resolve_backend(axes.get("backend", spec.backend), cls, device)
            return Cell(
                task=suite.task,
                method=spec.name,
                label=spec.label or cls.info.title,
                paper_row=spec.paper_row,
                params=params.model_dump(mode="json"),
                protocol=protocol,
                axes=axes,
                backend=backend,
                device=device,
                threads=axes.get("threads", self.threads),
                data=data,
                repeats=suite.repeats,
                warmup=suite.warmup,
                timing=suite.timing,
                seed=suite.seed,
                limits=suite.limits,
                pictures=suite.outputs.pictures,
            )
        except ValidationError as error:
            for problem in problems_of(error, cls.Params):
                self.problems.append(self._relocate(problem, index, picks))
        except ValueError as error:
            self._problem(("sweep", "backend", picks["backend"]), str(error))
        return None

    def _data(self, axes: Mapping[str, Any]) -> DataSpec:
        swept = {
            axis.removeprefix(DATA_AXIS): value
            for axis, value in axes.items()
            if axis.startswith(DATA_AXIS)
        }
        data = self.suite.data
        if self.dataset is None:
            return data
        params = self.dataset.Params(**{**data.params, **swept})
        return data.model_copy(update={"params": params.model_dump(mode="json")})

    def _relocate(self, problem: Problem, index: int, picks: Mapping[str, int]) -> Problem:
        """Say a problem of merged parameters at the place in the file that it comes from."""
        key, rest = problem.location[0], problem.location[1:]
        for axis in (key, f"{DATA_AXIS}{key}"):
            if axis in picks:
                return Problem(("sweep", axis, picks[str(axis)], *rest), problem.message)
        if key in self.suite.protocol:
            return Problem(("protocol", *problem.location), problem.message)
        return Problem(("methods", index, "params", *problem.location), problem.message)


def _params_at(spec: MethodSpec, values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that go with what this cell has of the protocol and the axes."""
    chosen: dict[str, Any] = {}
    for key, by_value in spec.params_at.items():
        chosen |= by_value.get(values.get(key), {})
    return chosen
