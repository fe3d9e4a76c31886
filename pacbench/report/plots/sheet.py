"""A figure of pictures that stand pixel by pixel, in lines, with their titles and scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pacbench.data.show import Picture
from pacbench.report.plots.style import DPI, STYLE

FONT = 7
"""Points."""

LINE, LETTER = 16, 7
"""Pixels of a line of text, and of a letter."""

GAP = 6
"""Pixels between panels."""

WIDEST = 256
"""Pixels of a picture."""

Key = tuple[tuple[Picture | None, str], ...]
"""What colours mean: of each line a picture of them, and words."""


@dataclass(frozen=True)
class Panel:
    """A picture with its title and what stands beneath; or a key, or nothing, in its place."""

    picture: Picture | None = None
    title: str = ""
    below: str = ""
    key: Key = ()


def sheet_of(lines: Sequence[Sequence[Panel]]) -> Figure:
    """Lines of panels under each other, in columns of the widest picture."""
    shown = [[None if p.picture is None else fitted(p.picture) for p in line] for line in lines]
    column = max(each.shape[1] for line in shown for each in line if each is not None)
    heights = [max(each.shape[0] for each in line if each is not None) for line in shown]
    titles = [[wrap(panel.title, max(8, column // LETTER)) for panel in line] for line in lines]
    above = [LINE * max(map(len, line)) for line in titles]
    below = [LINE * any(panel.below for panel in line) for line in lines]
    width = max(map(len, lines)) * (column + GAP) + GAP
    sheet = _Sheet(width, sum([*heights, *above, *below]) + 2 * GAP * len(lines))
    top = GAP
    for number, line in enumerate(lines):
        top += above[number]
        foot = top + heights[number]
        for place, (panel, picture) in enumerate(zip(line, shown[number], strict=True)):
            left = GAP + place * (column + GAP)
            middle = left + column / 2
            sheet.text("\n".join(titles[number][place]), middle, top - 2, "center", "bottom")
            sheet.text(panel.below, middle, foot + 4, "center", "top")
            if picture is not None:
                sheet.picture(picture, left + (column - picture.shape[1]) // 2, top)
            sheet.key(panel.key, left, top)
        top = foot + below[number] + 2 * GAP
    return sheet.figure


def fitted(picture: Picture) -> Picture:
    """At the largest whole-number scale that is not too wide, so that no pixel is lost.

    A picture that is too wide as it is becomes smaller by the means of squares of its pixels.
    """
    height, width = picture.shape[:2]
    if width <= WIDEST:
        times = WIDEST // width
        return picture.repeat(times, axis=0).repeat(times, axis=1)
    side = math.ceil(width / WIDEST)
    whole = np.pad(picture, ((0, -height % side), (0, -width % side), (0, 0)), mode="edge")
    squares = whole.reshape(whole.shape[0] // side, side, whole.shape[1] // side, side, 3)
    return np.asarray(squares.mean(axis=(1, 3)).round(), dtype=np.uint8)


class _Sheet:
    """A figure of so many pixels; places are pixels from its top left corner."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        with mpl.rc_context({**STYLE, "figure.constrained_layout.use": False}):
            self.figure = Figure(figsize=(width / DPI, height / DPI), dpi=DPI)

    def picture(self, picture: Picture, left: int, top: int) -> None:
        """A pixel of the picture as one of the sheet."""
        height, width = picture.shape[:2]
        corner = left / self.width, 1 - (top + height) / self.height
        panel = self.figure.add_axes((*corner, width / self.width, height / self.height))
        panel.imshow(picture, interpolation="nearest", aspect="auto")
        panel.axis("off")

    def text(self, text: str, left: float, top: float, across: Any, upright: Any) -> None:
        place = left / self.width, 1 - top / self.height
        self.figure.text(*place, text, fontsize=FONT, ha=across, va=upright)

    def key(self, key: Key, left: int, top: int) -> None:
        """Its lines under each other, words beside the pictures."""
        beside = max((each.shape[1] + GAP for each, _ in key if each is not None), default=0)
        for picture, words in key:
            height = LINE if picture is None else max(LINE, picture.shape[0])
            if picture is not None:
                self.picture(picture, left, top + (height - picture.shape[0]) // 2)
            start = left if picture is None else left + beside
            self.text(words, start, top + height / 2, "left", "center")
            top += height + GAP // 2
