"""Figures and pictures as data URLs, small enough for a page that holds them all."""

from __future__ import annotations

import base64
import io
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

from pacbench.report.plots.style import save

WIDEST = 720
"""Pixels; pictures that are wider are shrunk to it."""

QUALITY = 80


def of_plot(figure: Figure) -> str:
    """A drawing, sharp at any zoom."""
    buffer = io.BytesIO()
    save(figure, buffer, "svg")
    return _url("svg+xml", buffer.getvalue())


def of_picture(source: Path | io.BytesIO, widest: int = WIDEST) -> str:
    """A picture: as it is where that is smaller, as label maps are, else as WebP."""
    with Image.open(source) as opened:
        image = opened.convert("RGB")
    if image.width > widest:
        image = image.resize((widest, round(image.height * widest / image.width)))
    plain, packed = io.BytesIO(), io.BytesIO()
    image.save(plain, "PNG", optimize=True)
    image.save(packed, "WEBP", quality=QUALITY)
    kinds = {"png": plain.getvalue(), "webp": packed.getvalue()}
    kind = min(kinds, key=lambda name: len(kinds[name]))
    return _url(kind, kinds[kind])


def _url(kind: str, content: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
