"""The roofline: named points under the measured peak."""

from __future__ import annotations

import pytest
from made_results import operator_results

from pacbench.report.plots.roofline import roofline, spaced


def test_the_roofline_names_its_points_and_shows_a_copy_as_a_bandwidth() -> None:
    figure = roofline(operator_results())
    assert figure is not None
    (panel,) = figure.axes
    assert panel.get_title() == "1 thread, measured peak (black): 50 GFLOP/s, 5.0 GB/s"
    texts = [text.get_text() for text in panel.texts]
    assert [text.partition(" ±")[0] for text in texts] == ["memory copy:\n1.0", "pac_conv2d"]
    roof, copy = panel.lines[:2]
    assert roof.get_ydata()[0] / roof.get_xdata()[0] == pytest.approx(5)
    assert copy.get_ydata()[0] / copy.get_xdata()[0] == pytest.approx(1, rel=0.01)
    assert roofline(operator_results("cuda")) is None  # the peak is the CPU's


def test_names_are_kept_apart() -> None:
    assert spaced([0.1, 0.5, 0.9], 0.1) == [0.1, 0.5, 0.9]
    assert spaced([0.5, 0.5, 0.55], 0.1) == pytest.approx([0.5, 0.6, 0.7])
    assert spaced([0.9, 0.98, 0.99], 0.1) == pytest.approx([0.8, 0.9, 1.0])
