"""What was found, as a suite wants it."""

from __future__ import annotations

from collections.abc import Sequence

import yaml

from pacbench.suite.cells import Cell
from pacbench.tune.search import Point


def as_yaml(found: Sequence[tuple[Cell, Point]]) -> str:
    """The lines for a method's entry in a suite: one set of parameters, or one for each value.

    Args:
        found: the best parameters of every cell of one method. Cells that differ in one axis
            alone make a ``params_at:``; for more no entry has room, and each stands by itself.
    """
    first = found[0][0].axes
    differing = [axis for axis in first if len({str(cell.axes[axis]) for cell, _ in found}) > 1]
    if not differing:
        return f"params: {_flow(found[0][1])}"
    if len(differing) > 1:
        return "\n".join(f"params: {_flow(point)}  # {cell}" for cell, point in found)
    (axis,) = differing
    lines = [f"    {_flow(cell.axes[axis])}: {_flow(point)}" for cell, point in found]
    return "\n".join(["params_at:", f"  {axis}:", *lines])


def _flow(value: object) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=1000)
    return text.removesuffix("...\n").strip()
