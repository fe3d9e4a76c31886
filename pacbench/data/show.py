"""A picture of a sample: everything that is known of it, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pacbench.colours import LABEL_COLOURS
from pacbench.data.base import Sample

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Picture = NDArray[np.uint8]
"""(H, W, 3)."""


def map_colours(
    values: NDArray[np.floating], low: float, high: float, name: str = "viridis"
) -> Picture:
    """(H, W) to the colours of matplotlib's map of that name; beyond the range, its ends."""
    from matplotlib import colormaps

    share = (values - low) / max(high - low, 1e-6)
    return np.ascontiguousarray(colormaps[name](share, bytes=True)[..., :3])


def flow_colours(flow: NDArray[np.float32], largest: float | None = None) -> Picture:
    """(2, H, W) pixels to the colour wheel of Baker et al. (Middlebury): direction is hue.

    Args:
        largest: length that gets full colour; the field's own maximum if None.
    """
    u, v = flow.astype(np.float64)
    length = np.hypot(u, v)
    reach = max(float(length.max()) if largest is None else largest, 1e-6)
    wheel = _colour_wheel()
    at = (np.arctan2(-v, -u) / np.pi + 1) / 2 * (len(wheel) - 1)
    low = at.astype(np.intp)
    share = (at - low)[..., None]
    colour = (1 - share) * wheel[low] + share * wheel[(low + 1) % len(wheel)]
    radius = np.minimum(length / reach, 1)[..., None]
    return np.asarray(255 * (1 - radius * (1 - colour)), dtype=np.uint8)


def _colour_wheel() -> NDArray[np.float64]:
    """(55, 3): red, yellow, green, cyan, blue and magenta, with the wheel's uneven steps."""
    corners = np.array([(1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1), (1, 0, 1)])
    steps = (15, 6, 4, 11, 13, 6)
    runs = []
    for index, count in enumerate(steps):
        share = np.arange(count)[:, None] / count
        runs.append((1 - share) * corners[index] + share * corners[(index + 1) % len(corners)])
    return np.concatenate(runs)


def panels_of(sample: Sample) -> dict[str, Picture]:
    """Title to picture, for each field that the sample has; unknown pixels are black."""
    panels = {"image": np.ascontiguousarray(sample.image.transpose(1, 2, 0))}
    known = np.ones(sample.image.shape[1:], dtype=bool) if sample.valid is None else sample.valid
    if sample.depth is not None and known.any():
        low, high = float(sample.depth[known].min()), float(sample.depth[known].max())
        colours = map_colours(sample.depth, low, high)
        panels[f"depth, {low:.2f} to {high:.2f} m"] = np.where(known[..., None], colours, 0)
    if sample.flow is not None:
        largest = float(np.hypot(*sample.flow).max())
        colours = flow_colours(sample.flow)
        panels[f"flow, up to {largest:.1f} px"] = np.where(known[..., None], colours, 0)
    if sample.labels is not None:
        panels["labels"] = LABEL_COLOURS[sample.labels]
    if sample.unary is not None:
        panels["unary"] = LABEL_COLOURS[sample.unary.argmax(axis=0)]
    return panels


def figure_of(sample: Sample) -> Figure:
    """All panels in one row, without pyplot: nothing is left open."""
    from matplotlib.figure import Figure

    panels = panels_of(sample)
    height, width = sample.image.shape[1:]
    figure = Figure(figsize=(4 * len(panels), 4 * height / width + 0.5), layout="constrained")
    for axes, (title, picture) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
    ):
        axes.imshow(picture)
        axes.set_title(title)
        axes.set_axis_off()
    figure.suptitle(sample.name)
    return figure
