"""The colours of labels and of plots."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def _label_colours() -> NDArray[np.uint8]:
    """(256, 3): the bit-interleaved map that Pascal VOC's label images use; 255 is light grey."""
    labels = np.arange(256)
    colours = np.zeros((256, 3), dtype=np.uint8)
    for bit in range(8):
        for channel in range(3):
            shifted = (labels >> (3 * bit + channel)) & 1
            colours[:, channel] |= (shifted << (7 - bit)).astype(np.uint8)
    colours[255] = (224, 224, 192)
    return colours


LABEL_COLOURS = _label_colours()

# Okabe & Ito's palette, told apart by colour-blind readers and in print; then four of Tol's.
PLOT_COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"),
    *("#882255", "#999933", "#AA4499", "#888888"),
)
