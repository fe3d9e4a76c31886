"""Coarse to fine: all points of a grid, then steps along one parameter at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

Point = dict[str, float]
Evaluate = Callable[[Point], float]


def search(
    grid: Mapping[str, Sequence[float]],
    evaluate: Evaluate,
    step: float,
    rounds: int,
    gain: float = 0.0,
) -> tuple[Point, float]:
    """The best point found and its score; larger is better.

    Args:
        grid: values of each parameter, all combined.
        evaluate: the score of a point; asked again for points that were asked before.
        step: factor to the neighbours of the best, its square root in each further round.
        rounds: how often to search around the best.
        gain: share of the score that a step has to gain.
    """
    points = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    best = max(points, key=evaluate)
    for number in range(rounds):
        best = _climb(best, evaluate, step ** (0.5**number), gain)
    return best, evaluate(best)


def _climb(best: Point, evaluate: Evaluate, step: float, gain: float) -> Point:
    """Go to a better neighbour until there is none."""
    while True:
        neighbours = [
            {**best, name: float(f"{best[name] * factor:.4g}")}
            for name in best
            for factor in (step, 1 / step)
        ]
        candidate = max(neighbours, key=evaluate)
        now = evaluate(best)
        if evaluate(candidate) <= now + gain * abs(now):
            return best
        best = candidate
