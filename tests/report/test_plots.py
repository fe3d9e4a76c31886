"""Figures: each is drawn from what records have, with units on its axes, in every format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_results import cell, crf_results, depth_results, operator_results, record, results
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from pacbench.report.build import table_of
from pacbench.report.plots import FIGURES, figures_of
from pacbench.report.plots.curves import exponent
from pacbench.report.plots.measures import runtime_ms
from pacbench.report.plots.names import legend_names
from pacbench.report.plots.style import Looks, log_axis, reach
from pacbench.report.plots.trade_off import pareto
from pacbench.report.run import Results
from pacbench.report.scores import paired_estimate, score_of
from pacbench.report.write import write_figures
from pacbench.store import RunFolder
from pacbench.suite.cells import Cell
from pacbench.suite.schema import DataSpec, Outputs
from pacbench.timing import Timing

BASE = [0.45 + 0.02 * i for i in range(6)]
UNARY = record(cell("unary", label="Unaries only", backend="none"), BASE, 1e-7)


def gained(by: float) -> list[float]:
    return [score + by + 0.003 * (i % 2) for i, score in enumerate(BASE)]


def step_results() -> Results:
    made = [
        record(
            cell("pac_crf", paper_row="pac_crf_16_64", params={"steps": n}, axes={"steps": n}),
            gained(0.01 * n),
            0.05 * n,
        )
        for n in (1, 3, 5, 7)
    ]
    return results([UNARY, *made], name="steps", paper_table="tab_crf_mfsteps")


def dilation_results() -> Results:
    made = [
        record(cell("pac_crf", label=f"PAC-CRF, {d}", params={"dilations": [d]}), gained(0.001 * d))
        for d in (1, 8, 64)
    ]
    others = [record(cell("conv_crf", label="Conv-CRF"), gained(0.02))]
    return results([UNARY, *made, *others], name="dilation")


def size_results() -> Results:
    """Sizes with as many classes, and one of the sizes with other classes."""
    made = []
    for size, classes in (([188, 250], 21), ([375, 500], 21), ([750, 1000], 21), ([375, 500], 84)):
        data = DataSpec(name="scenes", split="test", params={"size": size, "classes": classes})
        pixels, times = size[0] * size[1], classes / 21
        of = cell("conv_crf", axes={"data.size": size, "data.classes": classes}, data=data)
        made.append(
            record(of, seconds=1e-6 * pixels * times**0.5, memory=round(100 * pixels * times**2))
        )
    return results(made, name="scaling")


MADE = {
    "crf": (crf_results(), {"trade-off", "timings"}),
    "depth": (depth_results(), {"trade-off", "factor", "timings"}),
    "steps": (step_results(), {"trade-off", "steps", "timings"}),
    "dilation": (dilation_results(), {"trade-off", "dilation", "timings"}),
    "scaling": (size_results(), {"scaling", "classes", "timings"}),
    "ops": (operator_results(), {"roofline", "timings"}),
}


UNITS = (
    "ms", "MB", "%", "cm", "px", "×", "count", "pixels", "megapixels", "percentage points",
    "FLOP/byte", "GFLOP/s",
)  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_figures_are_drawn_from_what_there_is(name: str) -> None:
    made, expected = MADE[name]
    assert {figure for figure, _ in figures_of(made)} == expected


def test_every_kind_of_figure_has_a_case() -> None:
    assert {kind for _, kinds in MADE.values() for kind in kinds} == set(FIGURES)


@pytest.mark.parametrize("name", MADE)
def test_every_axis_has_a_unit(name: str) -> None:
    """But for rows, which have names."""
    for kind, figure in figures_of(MADE[name][0]):
        labels = [panel.get_xlabel() for panel in figure.axes]
        if kind != "timings":
            labels += [panel.get_ylabel() for panel in figure.axes]
        assert labels
        for label in labels:
            assert label.rpartition(", ")[2] in UNITS, f"{kind}: {label!r}"


def drawn(kind: str, made: Results) -> Figure:
    figure = FIGURES[kind](made)
    assert figure is not None
    return figure


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].texts]


def test_what_they_show() -> None:
    trade_off = drawn("trade-off", crf_results())
    assert [panel.get_title()[:9] for panel in trade_off.axes] == ["measured ", "the paper"]
    names = ["Pareto front", "Full-CRF", "PAC-CRF, 32 (untrained)", "PAC-CRF, 16-64 (untrained)"]
    assert legend(trade_off) == names
    by_factor = drawn("trade-off", depth_results())
    assert [panel.get_title()[:14] for panel in by_factor.axes][1] == "measured, 8× ("
    scaling = drawn("scaling", size_results())
    assert legend(scaling) == ["conv_crf (untrained): 1.00 ± 0.00; 1.00 ± 0.00"]
    assert scaling.legends[0].get_title().get_text() == (
        "fitted exponents of the image size ± 95 %: of time; of memory"
    )
    classes = drawn("classes", size_results())
    assert legend(classes) == ["conv_crf (untrained): –; –"]  # two points fit any power


def test_of_memory_it_is_said_that_it_was_measured_once() -> None:
    for kind, made in (("factor", depth_results()), ("scaling", size_results())):
        runtime, memory = drawn(kind, made).axes[-2:]
        assert memory.get_title() == "measured once, no interval"
        assert bars_of(runtime)
        assert not bars_of(memory)


def bars_of(panel: Axes) -> list[tuple[float, float]]:
    """The vertical bars that are seen: their lower and upper ends."""
    ends = []
    for container in panel.containers:
        for collection in container.lines[2]:
            for path in collection.get_paths():
                (_, low), (_, high) = path.vertices
                if np.isfinite(low + high) and high > low:
                    ends.append((float(low), float(high)))
    return ends


def test_too_few_timings_are_a_point_without_a_bar() -> None:
    made = crf_results()
    few = [
        each.model_copy(update={"timing": Timing.of([[0.1]], race="r")}) for each in made.records
    ]
    assert few[1].timing is not None
    assert few[1].timing.interval is None
    estimate = runtime_ms(few[1])
    assert estimate == (100, -np.inf, np.inf)
    assert np.isnan(reach([estimate])).all()
    assert drawn("trade-off", replace(made, records=few)).axes[0].containers


def words(figure: Figure) -> set[str]:
    """All that is written in a figure."""
    return {text.get_text() for text in figure.findobj(Text) if isinstance(text, Text)}


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name in MADE for kind in sorted(MADE[name][1])]
)
def test_rows_that_a_suite_leaves_out_are_in_no_figure(name: str, kind: str) -> None:
    made = MADE[name][0]
    last = made.records[-1].cell.method
    more = [
        each.model_copy(update={"id": f"{each.id}-", "cell": left_out(each.cell)})
        for each in made.records
        if each.cell.method == last
    ]
    all_of_them = replace(made, records=[*made.records, *more])
    assert any("left out" in text for text in words(drawn(kind, all_of_them)))
    rows = [each.cell.label for each in made.records]
    chosen = made.suite.model_copy(update={"outputs": Outputs(rows=rows)})
    shown = words(drawn(kind, replace(all_of_them, suite=chosen)))
    assert not any("left out" in text for text in shown)
    assert shown == words(drawn(kind, made))


def left_out(cell: Cell) -> Cell:
    return cell.model_copy(update={"method": "another", "label": "left out"})


def test_scores_are_paired_with_what_they_are_shown_with() -> None:
    """What images do to all methods is in no bar, nor what the unaries do."""
    levels = [0.2, 0.9, 0.4, 0.7, 0.3, 0.8]
    unary = record(cell("unary", backend="none"), [0.1, 0.2, 0.3, 0.1, 0.2, 0.3])
    made = [
        record(
            cell("conv_crf", params={"n": n}, axes={"steps": n}),
            [level * n / 8 for level in levels],
        )
        for n in (6, 7, 8)
    ]
    alike = results([unary, *made], name="steps")
    for kind in ("trade-off", "steps"):
        bars = bars_of(drawn(kind, alike).axes[0])
        assert len(bars) == 3
        assert max(high - low for low, high in bars) < 12  # points, of some 60 without pairing


def test_dilation_has_a_bar_for_every_method() -> None:
    (panel,) = drawn("dilation", dilation_results()).axes
    assert len(bars_of(panel)) == 3 + 1
    assert not panel.patches  # no bands
    assert legend(panel.figure) == ["PAC-CRF, one dilation (untrained)", "Conv-CRF (untrained)"]


def test_measured_and_printed_scores_are_the_same_quantity() -> None:
    gain = "gain in mIoU, percentage points"
    assert [p.get_ylabel() for p in drawn("trade-off", crf_results()).axes] == [gain, gain]
    steps = drawn("trade-off", step_results())
    assert [p.get_ylabel() for p in steps.axes] == ["mIoU, %", "mIoU, %"]
    alone = drawn("trade-off", dilation_results())
    assert [p.get_ylabel() for p in alone.axes] == [gain]


def test_a_front_of_one_point_is_no_line() -> None:
    best = record(cell("conv_crf"), gained(0.1), 0.1)
    worse = record(cell("crf_rnn"), gained(0.05), 0.2)
    figure = drawn("trade-off", results([UNARY, best, worse]))
    assert legend(figure) == ["conv_crf (untrained)", "crf_rnn (untrained)"]


def test_legends_show_markers_without_error_bars() -> None:
    for kind, made in (("trade-off", crf_results()), ("factor", depth_results())):
        handles = drawn(kind, made).legends[0].legend_handles
        assert all(isinstance(handle, Line2D) for handle in handles)
        assert "o" in [handle.get_marker() for handle in handles]


def test_legends_tell_what_is_untrained_and_where() -> None:
    made = [
        each.model_copy(
            update={"cell": each.cell.model_copy(update={"params": {"weights": weights}})}
        )
        for each in depth_results().records
        for weights in [None if each.cell.axes["factor"] == 16 else "made"]
    ]
    names = ["BICUBIC", *(f"{n} (untrained at 16×)" for n in ("DJF_OURS", "PAC_LITE", "PAC"))]
    assert legend(drawn("factor", replace(depth_results(), records=made))) == names
    assert [*dict.fromkeys(legend_names(made, ["factor"]).values())][-3:] == [
        "PAC (factor 4)", "PAC (factor 8)", "PAC (factor 16) (untrained)",
    ]  # fmt: skip


def looks_of(panel: Axes) -> list[tuple[str, str]]:
    """Colour and marker of every point, in the order that they were drawn."""
    lines = [container.lines[0] for container in panel.containers]
    return [(str(line.get_color()), str(line.get_marker())) for line in lines]


def test_points_are_told_apart_by_marker_as_well_and_alike_in_both_panels() -> None:
    for made in (crf_results(), step_results()):
        measured, paper = map(looks_of, drawn("trade-off", made).axes)
        assert len({marker for _, marker in measured}) == len(measured)
        assert measured == paper


def test_hot_swapping_shows_the_network_that_it_starts_from() -> None:
    made = [
        record(cell(row, task="hotswap"), [level + 0.01 * i for i in range(4)], seconds)
        for row, level, seconds in (("fcn8s", 0.5, 0.04), ("pac_fcn", 0.52, 0.041))
    ]
    figure = drawn("trade-off", results(made, paper_table="tab_hotswap"))
    names = ["Pareto front", "fcn8s (untrained)", "pac_fcn (untrained)"]
    assert legend(figure) == names
    assert [panel.get_ylabel() for panel in figure.axes] == ["mIoU, %", "mIoU, %"]


def test_errors_of_networks_that_only_their_cost_is_told_of_are_not_shown() -> None:
    networks = depth_results(paper_table="tab_upsample_arch")
    assert FIGURES["trade-off"](networks) is None
    labels = [panel.get_ylabel() for panel in drawn("factor", networks).axes]
    assert labels == ["runtime per image, ms", "peak memory of a call, MB"]


@pytest.mark.parametrize(
    ("high", "ticks"), [(6, [1, 1.5, 2, 3, 5]), (60, [1, 2, 5, 10, 20, 50]), (600, [1, 10, 100])]
)
def test_ticks_of_logarithmic_axes_do_not_crowd(high: float, ticks: list[float]) -> None:
    panel = Figure().subplots()
    panel.plot([1, high], [1, high])
    panel.margins(0)
    log_axis(panel, "x", "time, s")
    assert [tick for tick in panel.get_xticks() if 1 <= tick <= high] == pytest.approx(ticks)


def test_operators_do_not_compete() -> None:
    table = table_of(operator_results())
    assert all(entry.rank == 0 for row in table.rows for entry in row)
    assert [c.title for c in table.columns][:3] == ["operator", "runtime, ms", "GFLOP/s"]


def test_every_format_is_written(tmp_path: Path) -> None:
    made = replace(crf_results(), folders=[RunFolder(tmp_path)])
    paths = write_figures(made, ["png", "svg", "pdf"])
    assert [path.name for path in paths[:3]] == [
        f"crf-trade-off.{e}" for e in ("png", "svg", "pdf")
    ]
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in paths[1].read_bytes()
    assert paths[2].read_bytes().startswith(b"%PDF")
    before = paths[0].read_bytes()
    write_figures(made, ["png"])
    assert paths[0].read_bytes() == before


def test_methods_look_different() -> None:
    looks = Looks([])
    assert len({tuple(looks[str(i)].values()) for i in range(40)}) == 40
    assert looks["3"] == looks["3"]


def test_intervals_leave_out_what_images_share() -> None:
    images = [10.0, 1.0, 5.0, 20.0]
    records = [
        record(cell(name), [i + by for i in images], metric="epe")
        for name, by in (("worse", 0.5), ("better", 0.1), ("middle", 0.3))
    ]
    score = score_of(records)
    assert score is not None
    found = paired_estimate(records[1], records, score)
    assert found == pytest.approx((9.1, 9.1, 9.1))
    alone = paired_estimate(records[1], records[1:2], score)
    assert alone is not None
    assert alone.low < 0


def test_the_pareto_front() -> None:
    points = [(1.0, 5.0), (2.0, 4.0), (3.0, 7.0), (0.5, 6.0)]
    assert pareto(points, more_is_better=True) == [3, 2]
    assert pareto(points, more_is_better=False) == [3, 0, 1]


def test_exponents_have_intervals_that_tell_what_the_fit_leaves() -> None:
    sizes = [1.0, 4.0, 9.0]
    assert exponent(sizes, [3 * size**1.5 for size in sizes]) == pytest.approx((1.5, 1.5, 1.5))
    bent = exponent(sizes, [1.0, 4.0, 20.0])
    assert bent.low < 0 < 1.2 < bent.value < 1.4 < 2 < bent.high  # one point more than the line has
    assert exponent(sizes[:2], [1.0, 4.0]) == (pytest.approx(1), -np.inf, np.inf)
