"""Figures and pictures of a run, with words for those who do not see them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

from matplotlib.figure import Figure

from pacbench.report.html.images import of_picture, of_plot, of_sheet
from pacbench.report.pictures import PictureRow
from pacbench.report.plots import FIGURES
from pacbench.report.plots.pictures import pictures
from pacbench.report.plots.style import save
from pacbench.report.run import Results

CAPTIONS = {
    "roofline": "roofline of the operators",
    "timings": "distribution of timings",
}
"""Of figures whose axes do not say what they show."""

WIDE = 7
"""Inches from which on a figure gets a row of its own."""


@dataclass(frozen=True)
class FigureView:
    """A figure; ``width`` is the class of its place."""

    caption: str
    source: str
    width: str


@dataclass(frozen=True)
class PicturesView:
    """Pictures of one sample, of which two are compared under a slider.

    Attributes:
        left, right: positions of the two that are shown first.
    """

    title: str
    names: list[str]
    sources: list[str]
    left: int
    right: int


def figures(run: Results) -> Iterator[FigureView]:
    """Drawings, then rows of pictures by factor."""
    for name, draw in FIGURES.items():
        figure = draw(run)
        if figure is not None:
            width = "wide" if figure.get_figwidth() > WIDE else ""
            caption = CAPTIONS.get(name) or caption_of(figure)
            yield FigureView(caption, of_plot(figure), width)
    rows = dict(_drawn(run)) or dict(_kept(run))
    for name in sorted(rows, key=_factor):
        yield FigureView(_pictures_caption(name), rows[name], "whole")


def caption_of(figure: Figure) -> str:
    """``RMSE and runtime against upsampling factor``, by the labels of its axes."""
    upright = dict.fromkeys(_quantity(panel.get_ylabel()) for panel in figure.axes)
    across = dict.fromkeys(_quantity(panel.get_xlabel()) for panel in figure.axes)
    return f"{_listed(list(upright))} against {_listed(list(across))}"


def compared(row: PictureRow) -> PicturesView:
    """The truth, or else the first input, against what the last method makes of it."""
    shown = row.in_colours()
    names = list(shown)
    return PicturesView(
        title=row.title,
        names=names,
        sources=[of_picture(picture) for picture in shown.values()],
        left=names.index("truth") if row.truth is not None else 0,
        right=names.index(row.outputs[-1].name),
    )


def _drawn(run: Results) -> Iterator[tuple[str, str]]:
    for name, figure in pictures(run):
        buffer = io.BytesIO()
        save(figure, buffer, "png")
        yield name, of_sheet(buffer)


def _kept(run: Results) -> Iterator[tuple[str, str]]:
    """As they were drawn when the run ended, where the pictures themselves were not kept."""
    for folder in run.folders:
        for path in (folder.path / "figures").glob("*-pictures*.png"):
            yield path.stem.removeprefix(f"{run.suite.name}-"), of_sheet(path)


def _factor(name: str) -> int:
    """16 of ``pictures-x16``, else 0."""
    found = re.search(r"-x(\d+)$", name)
    return int(found[1]) if found else 0


def _pictures_caption(name: str) -> str:
    factor = _factor(name)
    return f"pictures of outputs, upsampled {factor}×" if factor else "pictures of outputs"


def _quantity(label: str) -> str:
    """``runtime`` of ``runtime, ms``."""
    return label.partition(",")[0]


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
