"""Figures and pictures as data URLs, small enough for a page that holds them all."""

from __future__ import annotations

import base64
import io
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

from pacbench.data.show import Picture
from pacbench.report.plots.style import save

WIDEST = 720
"""Pixels; pictures that are wider are shrunk to it."""

QUALITY = 80
FEW = 64
"""Of WebP, out of 100; colours of which a picture of labels has no more."""


def of_plot(figure: Figure) -> str:
    """A drawing, sharp at any zoom."""
    buffer = io.BytesIO()
    save(figure, buffer, "svg")
    return _url("svg+xml", buffer.getvalue())


def of_picture(picture: Picture) -> str:
    """A picture to look at beside others."""
    image = Image.fromarray(picture)
    if image.width > WIDEST:
        image = image.resize((WIDEST, round(image.height * WIDEST / image.width)))
    return _packed(image)


def of_sheet(source: Path | io.BytesIO) -> str:
    """A figure of pictures, of which none loses a pixel."""
    with Image.open(source) as opened:
        return _packed(opened.convert("RGB"))


def _packed(image: Image.Image) -> str:
    """Exactly, as PNG, where colours are as few as those of labels; else as WebP."""
    buffer = io.BytesIO()
    if image.getcolors(FEW):
        image.save(buffer, "PNG", optimize=True)
        return _url("png", buffer.getvalue())
    image.save(buffer, "WEBP", quality=QUALITY)
    return _url("webp", buffer.getvalue())


def _url(kind: str, content: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
