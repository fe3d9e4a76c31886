"""Picture rows as in the paper's figures.

Of labels: the image, the truth, what each method makes of it. Of maps: the inputs, what the paper's
methods and the best ones make of them, the truth, and errors beneath, all in the telling crop.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter

from pacbench.data.show import Map, MapColours, Picture, flow_colours
from pacbench.metrics.upsampling import end_point_error, rmse_cm
from pacbench.report.naming import varying_axes
from pacbench.report.pictures import (
    Output,
    PictureRow,
    brightest_of,
    error_colours,
    error_of,
    load,
    picture_rows,
)
from pacbench.report.plots.sheet import Key, Panel, sheet_of
from pacbench.report.run import Results
from pacbench.report.scores import Score, score_of

PAPERS = (("bilinear",), ("djf_ours", "djf"), ("pac",))
"""The methods of the paper's own figures of upsampling; of each, the names that it may have."""

BEST = 2
"""How many of the best are shown besides."""

MOST = 8
"""Panels in a line; of more, lines are about equally long."""

CROP = 2.5
"""How many times smaller than the image the crops of upsampled maps are, in each direction."""

BAR = (90, 10)
WHEEL = 49
"""Pixels: width and height of a bar of colours, width of the colour wheel."""

Window = tuple[slice, slice]


def pictures(results: Results) -> Iterator[tuple[str, Figure]]:
    """One figure, or one per factor."""
    several = "factor" in varying_axes(results.records)
    figures: dict[str, list[PictureRow]] = {}
    for row in picture_rows(results):
        figures.setdefault(f"pictures-x{row.factor}" if several else "pictures", []).append(row)
    for name, rows in figures.items():
        yield name, sheet_of([line for row in rows for line in _lines(row)])


def telling_window(errors: Sequence[NDArray[np.float32]]) -> Window:
    """Where errors (H, W) differ most between methods, as a window of the image's shape.

    What is not known (NaN) counts as no error.
    """
    height, width = errors[0].shape
    size = (max(1, int(height / CROP)), max(1, int(width / CROP)))
    means = np.array([uniform_filter(np.nan_to_num(error), size) for error in errors])
    differ = means.max(axis=0) - means.min(axis=0)
    top, left = size[0] // 2, size[1] // 2
    inside = differ[top : height - size[0] + top + 1, left : width - size[1] + left + 1]
    row, column = np.unravel_index(int(inside.argmax()), inside.shape)
    return slice(int(row), int(row) + size[0]), slice(int(column), int(column) + size[1])


def shown_outputs(outputs: Sequence[Output]) -> list[Output]:
    """Those of the paper's own figure, and the best that were measured, in the suite's order."""
    papers = [
        next((output for output in outputs if output.record.cell.method in names), None)
        for names in PAPERS
    ]
    kept = {output.record.id for output in [*papers, *_best(outputs)] if output}
    return [output for output in outputs if output.record.id in kept] or list(outputs)


def _best(outputs: Sequence[Output]) -> list[Output]:
    score = score_of([output.record for output in outputs])
    if score is None:
        return []
    metric, sign = score.metric, -1 if score.better == "more" else 1
    scored = [output for output in outputs if metric in output.record.metrics]
    return sorted(scored, key=lambda output: sign * output.record.metrics[metric])[:BEST]


def _lines(row: PictureRow) -> list[list[Panel]]:
    return _map_lines(row, load(row.truth)) if row.truth and row.of_maps else _picture_lines(row)


def _picture_lines(row: PictureRow) -> list[list[Panel]]:
    """Image, truth and all outputs, whole; the scores of the sample beneath."""
    panels = [Panel(load(path), name, row.title) for name, path in row.inputs.items()]
    if row.truth is not None:
        panels.append(Panel(load(row.truth), "truth"))
    panels += [Panel(load(o.path), o.name, _sample_score(o, row.sample)) for o in row.outputs]
    length = math.ceil(len(panels) / math.ceil(len(panels) / MOST))
    return [panels[start : start + length] for start in range(0, len(panels), length)]


def _sample_score(output: Output, sample: str) -> str:
    score = score_of([output.record])
    images = [image for image in output.record.images if image.name == sample]
    if score is None or not images or score.metric not in images[0].metrics:
        return ""
    return _told(score, score.scale * images[0].metrics[score.metric])


def _map_lines(row: PictureRow, truth: Map) -> list[list[Panel]]:
    """Inputs, outputs and truth in the crop and in its colours; beneath, a key and the errors."""
    outputs = shown_outputs(row.outputs)
    maps = [load(output.path) for output in outputs]
    window = telling_window([error_of(each, truth) for each in maps])
    truth, maps = truth[:, *window], [each[:, *window] for each in maps]
    errors = [error_of(each, truth) for each in maps]
    colours, brightest = MapColours.of(truth), brightest_of(errors)
    inputs = _input_panels(row, window, colours)
    shown = [Panel(colours(each), o.name) for o, each in zip(outputs, maps, strict=True)]
    score = score_of([output.record for output in outputs])
    beneath = [
        Panel(
            error_colours(error, brightest),
            below=_told(score, _crop_score(each, truth)) if score else "",
        )
        for each, error in zip(maps, errors, strict=True)
    ]
    key = Panel(key=_key(row, colours, brightest, score))
    return [
        [*inputs, *shown, Panel(colours(truth), "truth")],
        [key, *[Panel()] * (len(inputs) - 1), *beneath],
    ]


def _input_panels(row: PictureRow, window: Window, colours: MapColours) -> list[Panel]:
    """The low-resolution input before its guide, as in the paper."""
    panels = []
    for name, path in reversed(row.inputs.items()):
        held = load(path)
        guide = name == "image"
        shown = held[window] if guide else colours(held[:, *window])
        panels.append(Panel(shown, "guide" if guide else "input"))
    return panels


def _key(row: PictureRow, colours: MapColours, brightest: float, score: Score | None) -> Key:
    bar = np.linspace(0, 1, BAR[0], dtype=np.float32)[None].repeat(BAR[1], axis=0)
    shown = _wheel() if colours.flow else MapColours(0, 1, flow=False)(bar[None])
    error = f"{brightest:.2f} px" if colours.flow else f"{100 * brightest:.0f} cm"
    return (
        (None, row.title),
        (shown, f"{'flow' if colours.flow else 'depth'} {colours}"),
        (error_colours(bar, 1), f"error 0 to {error}, or more"),
        (None, f"beneath: {score.name} of the crop" if score else ""),
    )


def _wheel() -> Picture:
    """At every place the colour of a flow that points there from the middle; white around."""
    v, u = np.mgrid[-1 : 1 : WHEEL * 1j, -1 : 1 : WHEEL * 1j].astype(np.float32)
    inside = np.hypot(u, v) <= 1
    return np.where(inside[..., None], flow_colours(np.array([u, v]), 1), np.uint8(255))


def _crop_score(output: Map, truth: Map) -> float:
    known = np.isfinite(truth[0])
    if len(truth) == 2:
        return end_point_error(output, truth, known)
    return rmse_cm(output[0], truth[0], known)


def _told(score: Score, value: float) -> str:
    return f"{score.name} {value:.{score.digits}f} {score.unit}" if math.isfinite(value) else ""
