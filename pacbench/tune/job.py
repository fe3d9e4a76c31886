"""One search as a suite describes it; what was evaluated is kept, so that it can be resumed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from pydantic import ValidationError

from pacbench.data.base import Sample
from pacbench.errors import UserError, did_you_mean, listing
from pacbench.json_lines import append, complete_lines, drop_torn_line
from pacbench.method import methods
from pacbench.suite.cells import Cell
from pacbench.suite.schema import Suite
from pacbench.suite.splits import open_split
from pacbench.tasks import tasks
from pacbench.tune.code import code_of
from pacbench.tune.search import Point, search
from pacbench.tune.spec import TuningSpec

NO_SCORE = -1e300  # worse than any score, and still a number in JSON


@dataclass(frozen=True)
class Found:
    """The best parameters, their score (larger is better), and how many points were looked at."""

    params: Point
    score: float
    evaluated: int


def spec_for(suite: Suite, cell: Cell) -> TuningSpec:
    """The suite's ``tuning:``, if it has a grid for the method of this cell."""
    if suite.tuning is None or cell.method not in suite.tuning.grids:
        grids = suite.tuning.grids if suite.tuning else {}
        raise UserError(
            f"suite '{suite.name}' has no grid for '{cell.method}' under `tuning: grids:`; "
            f"it has {listing(grids)}"
        )
    fields = methods[cell.method].Params.model_fields
    for name in suite.tuning.grids[cell.method].keys() - fields.keys():
        raise UserError(
            f"tuning.grids.{cell.method}.{name}: no such parameter"
            f"{did_you_mean(name, fields)}; allowed: {listing(fields)}"
        )
    return suite.tuning


def tunable(suite: Suite, cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """Those cells whose method has a grid, by label.

    Raises:
        UserError: there is none, or a grid names what its method does not have.
    """
    grids = suite.tuning.grids if suite.tuning else {}
    chosen = [cell for cell in cells if cell.method in grids] or cells[:1]
    found: dict[str, list[Cell]] = {}
    for cell in chosen:
        spec_for(suite, cell)  # or say what is wrong with it
        found.setdefault(cell.label, []).append(cell)
    return found


def run_tuning(
    cell: Cell, spec: TuningSpec, path: Path, shown: Callable[[Point, float], None]
) -> Found:
    """Search for the parameters of a cell's method.

    Args:
        cell: the method, its other parameters and the data.
        spec: where to look.
        path: JSON lines of what was evaluated; points that are there are not run again.
        shown: told of every point that is evaluated, and its score; NaN where it has none.

    Raises:
        UserError: samples that the task cannot use, or no point that has a score.
    """
    torch.set_num_threads(cell.threads)
    torch.manual_seed(cell.seed)
    samples = _samples(cell, spec)
    known = _Evaluations(path, _identity(cell, spec))

    def evaluate(point: Point) -> float:
        if (score := known.get(point)) is None:
            score = _score(cell, point, samples)
            known.add(point, score)
            shown(point, math.nan if score == NO_SCORE else score)
        return score

    best, score = search(spec.grids[cell.method], evaluate, spec.step, spec.rounds, spec.gain)
    if score == NO_SCORE:
        raise UserError(
            f"{cell}: none of {len(known)} points has a score; they are out of the parameters' "
            "range, or the score is undefined on these samples"
        )
    return Found(best, score, len(known))


def _samples(cell: Cell, spec: TuningSpec) -> list[Sample]:
    data = open_split(cell.data, spec.split, cell.seed, spec.params, "tuning")
    samples = [data[index] for index in range(min(spec.samples, len(data)))]
    where = f"dataset '{cell.data.name}', split '{spec.split}'"
    if not samples:
        raise UserError(f"{where}: has no samples to tune on; choose another: `tuning: split:`")
    try:
        tasks[cell.task](samples[0], cell.context(samples[0]).protocol)
    except ValueError as error:  # no depth, no labels
        raise UserError(f"{where}: {error}; see `pacbench data info {cell.data.name}`") from None
    return samples


def _score(cell: Cell, point: Point, samples: list[Sample]) -> float:
    cls, example = methods[cell.method], samples[0]
    try:
        params = cls.Params(**{**cell.params, **point})
    except ValidationError:  # a step out of the range that the method allows
        return NO_SCORE
    context = cell.context(example)
    method = cls(params, context)
    task = tasks[cell.task](example, context.protocol)
    with torch.inference_mode():
        for sample in samples:
            task.score(method.finish(method.run(method.prepare(sample))), sample)
    score = task.summary()[task.goal]
    if math.isnan(score):  # undefined on these samples, or the method broke down
        return NO_SCORE
    return score if task.larger_is_better else -score


def _identity(cell: Cell, spec: TuningSpec) -> str:
    """All but the point that a score depends on."""
    deciding = {"method", "params", "protocol", "data", "seed", "backend"}
    facts = cell.model_dump(mode="json", include=deciding)
    facts["code"] = code_of(methods[cell.method])
    sought = spec.grids[cell.method]  # once found they stand in the suite, and change nothing here
    facts["params"] = {name: value for name, value in cell.params.items() if name not in sought}
    chosen = spec.model_dump(mode="json", include={"split", "samples", "params"})
    return json.dumps([facts, chosen], sort_keys=True)


class _Evaluations:
    """Scores by point, each on disk as soon as it is known."""

    def __init__(self, path: Path, identity: str) -> None:
        self._path, self._identity = path, identity
        self._scores: dict[str, float] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        for line in complete_lines(path):
            entry = json.loads(line)
            if entry["identity"] == identity:
                self._scores[entry["point"]] = entry["score"]

    def __len__(self) -> int:
        return len(self._scores)

    def get(self, point: Point) -> float | None:
        return self._scores.get(_key(point))

    def add(self, point: Point, score: float) -> None:
        self._scores[_key(point)] = score
        with self._path.open("r+b") as file:
            drop_torn_line(file)
            append(file, {"identity": self._identity, "point": _key(point), "score": score})


def _key(point: Point) -> str:
    return json.dumps(point, sort_keys=True)
