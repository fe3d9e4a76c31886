"""A picture of a sample: everything that is known of it, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pacbench.colours import LABEL_COLOURS
from pacbench.data.base import Sample

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Picture = NDArray[np.uint8]
"""(H, W, 3)."""

Map = NDArray[np.float32]
"""(1, H, W) depth in metres or (2, H, W) flow in pixels, NaN where it is not known."""


@dataclass(frozen=True)
class MapColours:
    """What maps that are to be compared share: depth in viridis, flow in Middlebury's wheel.

    Attributes:
        low, high: metres that get the first and the last colour; of flow 0 and the length in pixels
            that gets full colour.
        flow: whether the maps are of flow.
    """

    low: float
    high: float
    flow: bool

    @classmethod
    def of(cls, truth: Map) -> MapColours:
        """Those of the range that is known of a map."""
        flow = len(truth) == 2
        values = np.hypot(*truth) if flow else truth[0]
        known = values[np.isfinite(values)]
        if not known.size:
            return cls(0.0, 1.0, flow)
        return cls(0.0 if flow else float(known.min()), float(known.max()), flow)

    def __call__(self, shown: Map) -> Picture:
        """A map in these colours; what is beyond them has the last, what is not known is black."""
        if self.flow:
            return flow_colours(shown, self.high)
        return map_colours(shown[0], self.low, self.high)

    def __str__(self) -> str:
        return f"up to {self.high:.1f} px" if self.flow else f"{self.low:.2f} to {self.high:.2f} m"


def unknown_as_nan(values: Map, valid: NDArray[np.bool_] | None) -> Map:
    """A (C, H, W) map as it is shown: what is not valid is NaN."""
    return values if valid is None else np.where(valid, values, np.float32(np.nan))


def map_colours(
    values: NDArray[np.floating], low: float, high: float, name: str = "viridis"
) -> Picture:
    """(H, W) to the colours of a map of matplotlib's: its ends beyond the range, NaN black."""
    from matplotlib import colormaps

    share = (values - low) / max(high - low, 1e-6)
    return np.ascontiguousarray(colormaps[name](share, bytes=True)[..., :3])


def flow_colours(flow: NDArray[np.float32], largest: float | None = None) -> Picture:
    """(2, H, W) pixels to the colour wheel of Baker et al. (Middlebury); NaN is black.

    Args:
        largest: length that gets full colour; the field's own maximum if None.
    """
    known = np.isfinite(flow[0]) & np.isfinite(flow[1])
    u, v = np.where(known, flow, 0).astype(np.float64)
    length = np.hypot(u, v)
    reach = max(float(length.max()) if largest is None else largest, 1e-6)
    wheel = _colour_wheel()
    at = (np.arctan2(-v, -u) / np.pi + 1) / 2 * (len(wheel) - 1)
    low = at.astype(np.intp)
    share = (at - low)[..., None]
    colour = (1 - share) * wheel[low] + share * wheel[(low + 1) % len(wheel)]
    radius = np.minimum(length / reach, 1)[..., None]
    shown = known[..., None] * (1 - radius * (1 - colour))
    return np.asarray(255 * shown, dtype=np.uint8)


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
    for name, held in (("depth", sample.depth), ("flow", sample.flow)):
        if held is not None:
            shown = unknown_as_nan(held.reshape(-1, *held.shape[-2:]), sample.valid)
            colours = MapColours.of(shown)
            panels[f"{name}, {colours}"] = colours(shown)
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
