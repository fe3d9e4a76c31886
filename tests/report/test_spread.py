"""The spread of timings: a distribution where there is one, and none that hides the others."""

from __future__ import annotations

import pytest
from made_results import cell, record, results
from matplotlib.axes import Axes

from pacbench.report.plots.spread import spread_of, timings
from pacbench.report.run import Results
from pacbench.timing import Timing


def drawn(made: Results) -> Axes:
    figure = timings(made)
    assert figure is not None
    return figure.axes[0]


def timed(*blocks: list[float]) -> Results:
    made = [
        record(cell("conv_crf", params={"n": n}), timing=Timing.of([each], race="r"))
        for n, each in enumerate(blocks)
    ]
    return results(made)


def test_few_timings_are_points_and_many_a_distribution() -> None:
    many = [1.0 + 0.01 * (i % 7) for i in range(40)]
    few, steady = (spread_of(r.timing) for r in timed([1.0, 3.0], many).records if r.timing)
    assert few.few
    assert few.interval is None
    assert few.deviations.tolist() == [-50, 50]
    assert not steady.few
    assert steady.interval is not None
    assert steady.interval[0] <= 0 <= steady.interval[1]
    panel = drawn(timed([1.0, 3.0], many))
    points = [line for line in panel.lines if line.get_marker() == "o"]
    assert [line.get_xdata().tolist() for line in points] == [[-50, 50]]
    assert panel.get_title().count("\n") == 1


def test_the_interval_is_of_the_blocks_that_are_shown() -> None:
    """Images that differ in work do not move it."""
    blocks = [1.0 + 0.01 * (i % 7) for i in range(40)]
    one = Timing.of([blocks])
    two = Timing.of([blocks, [5 * each for each in blocks]])
    assert spread_of(two).interval == pytest.approx(spread_of(one).interval, abs=1)
    assert max(map(abs, spread_of(two).interval or [])) < 5


def test_a_timing_that_is_far_off_leaves_the_axis_and_is_told() -> None:
    quiet = [1.0 + 0.01 * (i % 7) for i in range(40)]
    far = quiet[:-4] + [18.5] * 4
    panel = drawn(timed(quiet, quiet, far))
    assert panel.get_xlim()[1] < 20
    (text,) = panel.texts
    assert text.get_text().endswith(" % →")
    assert float(text.get_text().split()[0]) > 1000
    assert not drawn(timed(quiet, quiet)).texts


def test_single_timings_have_no_spread() -> None:
    assert timings(timed([1.0], [2.0])) is None
    assert len(drawn(timed([1.0], [2.0, 2.1])).get_yticks()) == 1
