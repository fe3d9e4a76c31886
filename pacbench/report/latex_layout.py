"""How a LaTeX table is laid out so that it stays on the page.

Without packages that scale or break tables, widths are reckoned here, a little too wide: long texts
are wrapped, columns that do not fit go to a second tabular beneath the first, and rows that do not
fit a page to a second table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby

from pacbench.report.table import Entry, Table

WIDEST = 478.0
"""Points: the column of article, 345, and half of each of its margins."""

TALLEST = 500.0
"""Points of the 550 that a page of article has, for rows, caption and notes."""

GAP = 6.0
"""Points between two columns: twice ``\\tabcolsep``."""

LONG = 100.0
"""Points from which on a text is wrapped, if that is needed."""

LINE = 8.5
"""Points from a line of a table to the next; a row of notes needs as much."""

SPACE = 3.0
"""Points between rows of several lines."""

CAPTION_LINE, CAPTION_LETTERS, NOTE_LETTERS = 12.0, 75, 110
"""Points of a line of the caption, and letters in a line of it and of the notes."""

LETTERS = {
    **dict.fromkeys(" .,:;'|!ijlItfr()[]/-", 2.8),
    **dict.fromkeys("mwMW%±×−+&…", 6.5),
}
"""Points of the characters of scriptsize that are narrower or wider than a digit."""

DIGIT, CAPITAL, BOLD = 4.0, 5.6, 1.12
"""Points of a digit, and of most letters; of capitals; how much wider bold ones are."""

_TITLE = re.compile(r"(?P<name>.*?)(, (?P<unit>.*)| (?P<across>\(.*\)))?")


@dataclass(frozen=True)
class Panel:
    """The columns of one tabular.

    Attributes:
        places: of the table's columns, those that it shows.
        widths: their widths in points.
        wrapped: whether each wraps its text.
    """

    places: list[int]
    widths: list[float]
    wrapped: list[bool]

    @property
    def width(self) -> float:
        return sum(self.widths) + GAP * len(self.widths)


def split_title(title: str) -> tuple[str, str]:
    """A title and its unit, which stands beneath it, so that columns are as narrow as figures."""
    match = _TITLE.fullmatch(title)
    if match is None:
        return title, ""
    return match["name"], match["unit"] or match["across"] or ""


def panels_of(table: Table) -> Iterator[Panel]:
    """The columns as they are if they fit, else with long texts wrapped, else in several tabulars.

    What names a row stands in each of them; columns of one group stay together if they can.
    """
    widths = _widths(table)
    places = list(range(len(widths)))
    whole = Panel(places, widths, [False] * len(places))
    if whole.width > WIDEST:
        whole = _wrapped(table, whole)
    if whole.width <= WIDEST:
        yield whole
        return
    names = [place for place in places if table.columns[place].names_row or place == 0]
    others = [place for place in places if place not in names]
    together = [list(g) for _, g in groupby(others, key=lambda p: table.columns[p].group)]
    space = WIDEST - sum(widths[name] + GAP for name in names)
    for held in _filled(together, [width + GAP for width in widths], space):
        shown = [*names, *held]
        panel = Panel(shown, [widths[place] for place in shown], [False] * len(shown))
        yield panel if panel.width <= WIDEST else _wrapped(table, panel)


def pages_of(table: Table, panels: Sequence[Panel]) -> Iterator[Table]:
    """The rows that fit a page beneath their caption; those of the last with the notes."""
    caption = CAPTION_LINE * math.ceil(len(table.whole_caption) / CAPTION_LETTERS)
    notes = LINE * sum(math.ceil(len(note) / NOTE_LETTERS) for note in table.notes)
    space = TALLEST - caption
    heights = [sum(_height(row, panel) for panel in panels) for row in table.rows]
    start = 0
    while sum(heights[start:]) + notes > space and start < len(heights) - 1:
        fit = sum(height <= space for height in accumulate(heights[start:]))
        end = start + max(1, min(fit, len(heights) - start - 1))  # a row at least for the last
        yield replace(table, rows=table.rows[start:end])
        start = end
    yield replace(table, rows=table.rows[start:])


def _points(text: str, bold: bool = False) -> float:
    """How wide a text is in scriptsize."""
    width = sum(LETTERS.get(letter, CAPITAL if letter.isupper() else DIGIT) for letter in text)
    return width * BOLD if bold else width


def _widths(table: Table) -> list[float]:
    """Of the columns, if nothing is wrapped."""
    widths = []
    for place, column in enumerate(table.columns):
        titles = [_points(text) for text in split_title(column.title)]
        entries = (row[place] for row in table.rows)
        texts = [_points(entry.text, entry.rank == 1) + _points(entry.mark) for entry in entries]
        widths.append(max([*titles, *texts]))
    return widths


def _wrapped(table: Table, panel: Panel) -> Panel:
    """With long texts in columns that share what the others leave of the width."""
    long = [
        width > LONG and table.columns[place].align == "l"
        for place, width in zip(panel.places, panel.widths, strict=True)
    ]
    asked = sum(width for width, wraps in zip(panel.widths, long, strict=True) if wraps)
    left = WIDEST - (panel.width - asked)
    if not asked or left < LONG * sum(long):
        return panel
    widths = [
        math.floor(width * left / asked) if wraps else width
        for width, wraps in zip(panel.widths, long, strict=True)
    ]
    return replace(panel, widths=widths, wrapped=long)


def _filled(
    together: Sequence[list[int]], widths: Sequence[float], space: float
) -> Iterator[list[int]]:
    """Places that fit the space side by side; a group that is wider than that is parted."""
    held: list[int] = []
    for group in together:
        fits = sum(widths[place] for place in group) <= space
        for places in [group] if fits else [[place] for place in group]:
            if held and sum(widths[place] for place in [*held, *places]) > space:
                yield held
                held = []
            held = [*held, *places]
    yield held


def _height(row: Sequence[Entry], panel: Panel) -> float:
    """Points of a row, words at the ends of lines being moved to the next."""
    lines = [
        math.ceil(1.15 * _points(row[place].text + row[place].mark) / width) if wraps else 1
        for place, width, wraps in zip(panel.places, panel.widths, panel.wrapped, strict=True)
    ]
    return LINE * max(lines) + SPACE * any(panel.wrapped)
