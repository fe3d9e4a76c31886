"""The shapes at which the PAC operators are tested, on every device and backend."""

from __future__ import annotations

from typing import Any, NamedTuple


class Case(NamedTuple):
    """An operator at a shape: (batch, in channels, out channels, height, width) and its taps."""

    shape: tuple[int, int, int, int, int]
    kernel_size: tuple[int, int] = (3, 3)
    stride: Any = 1
    padding: Any = 1
    dilation: Any = 1
    output_padding: Any = 0

    @property
    def taps(self) -> tuple[Any, Any, Any]:
        return self.stride, self.padding, self.dilation


CASES = {
    "small": Case((2, 3, 4, 9, 8)),
    "several-tiles": Case((1, 21, 21, 7, 111), (5, 5), 1, 32, 16),
    "channels-over-panel": Case((2, 140, 9, 5, 50)),
    "one-pixel": Case((2, 3, 2, 1, 1)),
    "one-row": Case((1, 5, 6, 1, 97), (3, 5), 1, (2, 4), 2),
    "one-column": Case((1, 5, 7, 97, 1), (5, 3), 1, (2, 1)),
    "one-channel": Case((3, 1, 1, 59, 59)),
    "pointwise": Case((2, 6, 13, 4, 59), (1, 1), 1, 0),
    "dilation-over-image": Case((1, 4, 5, 6, 7), (5, 5), 1, 64, 32),
    "stride": Case((2, 3, 5, 20, 111), (5, 3), (2, 3), (2, 0)),
    "stride-over-kernel": Case((1, 3, 2, 21, 59), (3, 1), (5, 4), (0, 2)),
    "padding-over-window": Case((1, 3, 2, 6, 5), (3, 3), 1, (4, 3)),
    "middle-outside-image": Case((1, 3, 2, 9, 2), (5, 3), (5, 7), (3, 18), (3, 16)),
}
TRANSPOSED = {
    "doubling": Case((2, 5, 9, 6, 59), (5, 5), 2, 2, 1, 1),
    "plain": Case((1, 3, 4, 9, 8)),
    "uneven": Case((1, 4, 3, 5, 30), (3, 5), (3, 2), (0, 4), (2, 1), (2, 1)),
    "stride-over-kernel": Case((2, 3, 2, 5, 13), (1, 3), (4, 5), (0, 1)),
    "padding-over-window": Case((1, 3, 2, 6, 9), (3, 3), 2, (3, 4)),
    "one-pixel": Case((1, 2, 3, 1, 1), (5, 5), 3, 1),
    "channels-over-panel": Case((1, 140, 3, 3, 20), (3, 3), 2, 1, 1, 1),
}
