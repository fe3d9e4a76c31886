"""Picture rows as in the paper's figures.

Of labels: the image, the truth, what each method makes of it. Of maps: the inputs, what each method
makes of them, the truth, and errors beneath.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import fill

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import imread
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter

from pacbench.report.naming import varying_axes
from pacbench.report.pictures import Output, PictureRow, picture_rows
from pacbench.report.plots.style import STYLE
from pacbench.report.run import Results
from pacbench.tasks.upsample import FULL_ERROR

WIDTH = 1.35
"""Inches of a panel."""

MOST = 10
"""Outputs in a figure; of more, those of the paper's own figure are taken."""

TELLING = ("bilinear", "bicubic", "djf", "djf_ours", "pac_lite", "pac")
CROP = 2.5
"""How many times smaller than the image the crops of upsampled maps are, in each direction."""

TITLE = 18
"""Letters in a line of a panel's title."""

ERRORS = f"error\nblack: 0\nwhite: {FULL_ERROR:.0%}\nor more of\nthe truth's range"
Window = tuple[slice, slice]


def pictures(results: Results) -> Iterator[tuple[str, Figure]]:
    """One figure, or one per factor."""
    several = "factor" in varying_axes(results.records)
    figures: dict[str, list[PictureRow]] = {}
    for row in picture_rows(results):
        factor = row.outputs[0].record.cell.axes.get("factor")
        name = f"pictures-x{factor}" if several and factor else "pictures"
        figures.setdefault(name, []).append(row)
    for name, rows in figures.items():
        yield name, _draw(rows)


def telling_window(errors: Sequence[NDArray[np.float32]]) -> Window:
    """Where pictures (H, W) of errors differ most, as a window of the image's shape."""
    height, width = errors[0].shape
    size = (max(1, int(height / CROP)), max(1, int(width / CROP)))
    means = np.array([uniform_filter(error, size) for error in errors])
    differ = means.max(axis=0) - means.min(axis=0)
    top, left = size[0] // 2, size[1] // 2
    inside = differ[top : height - size[0] + top + 1, left : width - size[1] + left + 1]
    row, column = np.unravel_index(int(inside.argmax()), inside.shape)
    return slice(int(row), int(row) + size[0]), slice(int(column), int(column) + size[1])


def _draw(rows: Sequence[PictureRow]) -> Figure:
    chosen = [_chosen(row.outputs) for row in rows]
    errors = all(output.error for outputs in chosen for output in outputs)
    lines = len(rows) * (2 if errors else 1)
    first, widest = rows[0], max(map(len, chosen))
    columns = len(first.inputs) + widest + (first.truth is not None)
    height, width = imread(chosen[0][0].path).shape[:2]
    with mpl.rc_context({**STYLE, "axes.grid": False}):
        figure = Figure(figsize=(WIDTH * columns, WIDTH * height / width * lines + 0.3))
        grid = figure.subplots(lines, columns, squeeze=False)
        for panel in grid.ravel():
            panel.axis("off")
        for index, (row, outputs) in enumerate(zip(rows, chosen, strict=True)):
            window = _window(outputs) if errors else (slice(None), slice(None))
            truth = [("truth", row.truth)] if row.truth else []
            made = [(output.name, output.path) for output in outputs]
            shown = [*_inputs(row), *(made + truth if errors else truth + made)]
            line = grid[index * (2 if errors else 1)]
            for panel, (title, path) in zip(line, shown, strict=False):
                _show(panel, path, window, title if index == 0 else "")
            if errors:
                below = grid[2 * index + 1]
                for panel, output in zip(below[len(row.inputs) :], outputs, strict=False):
                    _show(panel, output.error, window, "")
                below[len(row.inputs) - 1].text(
                    0.95, 0.5, ERRORS, fontsize=7, ha="right", va="center",
                    transform=below[len(row.inputs) - 1].transAxes,
                )  # fmt: skip
    return figure


def _inputs(row: PictureRow) -> list[tuple[str, Path]]:
    """The low-resolution input before its guide, as in the paper."""
    names = {"image": "image" if len(row.inputs) == 1 else "guide"}
    titled = [(names.get(name, "input"), path) for name, path in row.inputs.items()]
    return titled[::-1]


def _chosen(outputs: Sequence[Output]) -> list[Output]:
    if len(outputs) <= MOST:
        return list(outputs)
    telling = [
        output
        for output in outputs
        if {output.record.cell.paper_row, output.record.cell.method} & {*TELLING}
    ]
    return (telling or list(outputs))[:MOST]


def _window(outputs: Sequence[Output]) -> Window:
    errors = [imread(output.error)[..., :3].mean(axis=2) for output in outputs if output.error]
    return telling_window(errors)


def _show(panel: Axes, path: Path | None, window: Window, title: str) -> None:
    if path is not None:
        panel.imshow(imread(path)[window], interpolation="nearest")
    if title:
        panel.set_title(fill(title, TITLE), fontsize=7)
