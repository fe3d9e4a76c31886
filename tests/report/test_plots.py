"""Figures: each is drawn from what records have, with units on its axes, in every format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_results import (
    cell,
    crf_results,
    depth_results,
    record,
    results,
    write_pictures,
    write_run,
)
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pacbench.report.build import table_of
from pacbench.report.plots import FIGURES, figures_of
from pacbench.report.plots.curves import exponent
from pacbench.report.plots.pictures import telling_window
from pacbench.report.plots.style import Looks, log_axis
from pacbench.report.plots.trade_off import pareto
from pacbench.report.run import Results, read
from pacbench.report.scores import paired_estimate, score_of
from pacbench.report.write import write_figures
from pacbench.store import RunFolder
from pacbench.suite.schema import DataSpec
from pacbench.timing.cost import Cost
from pacbench.timing.peak import Peak

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


def operator_results(device: str = "cpu") -> Results:
    of = cell("pac_conv2d", task="op", threads=1, device=device, paper_row=None)
    made = record(of, metrics={}, images=[], cost=Cost(flops=2e9, bytes=1e8))
    peak = Peak(threads=1, flops_per_second=5e10, bytes_per_second=5e9)
    return replace(results([made], name="ops"), peaks=[peak])


MADE = {
    "crf": (crf_results(), {"trade-off", "timings"}),
    "depth": (depth_results(), {"trade-off", "factor", "timings"}),
    "steps": (step_results(), {"trade-off", "steps", "timings"}),
    "dilation": (dilation_results(), {"trade-off", "dilation", "timings"}),
    "scaling": (size_results(), {"scaling", "classes", "timings"}),
    "ops": (operator_results(), {"roofline", "timings"}),
}


@pytest.mark.parametrize("name", MADE)
def test_figures_are_drawn_from_what_there_is(name: str) -> None:
    made, expected = MADE[name]
    drawn = dict(figures_of(made))
    assert set(drawn) == expected
    for figure in drawn.values():
        for panel in figure.axes:
            assert ", " in panel.get_xlabel(), panel.get_xlabel()  # every axis has its unit
            assert ", " in panel.get_ylabel() or panel.get_yticklabels()


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in (figure.legends or [figure.axes[0].get_legend()])[0].texts]


def test_what_they_show() -> None:
    trade_off = FIGURES["trade-off"](crf_results())
    assert trade_off is not None
    assert [panel.get_title()[:9] for panel in trade_off.axes] == ["measured ", "the paper"]
    names = ["Pareto front", "Full-CRF", "PAC-CRF, 32", "PAC-CRF, 16-64"]
    assert legend(trade_off) == names
    by_factor = FIGURES["trade-off"](depth_results())
    assert by_factor is not None
    assert [panel.get_title()[:14] for panel in by_factor.axes][1] == "measured, 8× ("
    scaling = FIGURES["scaling"](size_results())
    assert scaling is not None
    assert legend(scaling) == ["conv_crf: 1.00, 1.00"]
    assert scaling.legends[0].get_title().get_text() == (
        "fitted exponents of the image size: of time, of memory"
    )
    classes = FIGURES["classes"](size_results())
    assert classes is not None
    assert legend(classes) == ["conv_crf: 0.50, 2.00"]
    roofline = FIGURES["roofline"](operator_results())
    assert roofline is not None
    assert roofline.axes[0].get_title() == "1 thread, measured peak: 50 GFLOP/s, 5.0 GB/s"
    assert FIGURES["roofline"](operator_results("cuda")) is None  # the peak is the CPU's


def looks_of(panel: Axes) -> list[tuple[str, str]]:
    """Colour and marker of every point, in the order that they were drawn."""
    lines = [container.lines[0] for container in panel.containers]
    return [(str(line.get_color()), str(line.get_marker())) for line in lines]


def test_points_are_told_apart_by_marker_as_well_and_alike_in_both_panels() -> None:
    for made in (crf_results(), step_results()):
        figure = FIGURES["trade-off"](made)
        assert figure is not None
        measured, paper = map(looks_of, figure.axes)
        assert len({marker for _, marker in measured}) == len(measured)
        assert measured == paper


def test_hot_swapping_shows_the_network_that_it_starts_from() -> None:
    made = [
        record(cell(row, task="hotswap"), [level + 0.01 * i for i in range(4)], seconds)
        for row, level, seconds in (("fcn8s", 0.5, 0.04), ("pac_fcn", 0.52, 0.041))
    ]
    figure = FIGURES["trade-off"](results(made, paper_table="tab_hotswap"))
    assert figure is not None
    assert legend(figure) == ["Pareto front", "fcn8s", "pac_fcn"]
    assert [panel.get_ylabel() for panel in figure.axes] == ["mIoU, %", "mIoU, %"]


def test_errors_of_networks_that_only_their_cost_is_told_of_are_not_shown() -> None:
    networks = depth_results(paper_table="tab_upsample_arch")
    assert FIGURES["trade-off"](networks) is None
    figure = FIGURES["factor"](networks)
    assert figure is not None
    labels = [panel.get_ylabel() for panel in figure.axes]
    assert labels == ["runtime per image, ms", "peak memory, MB"]


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


@pytest.mark.parametrize(
    ("made", "names"),
    [
        (crf_results(), ["pictures"]),
        (depth_results(), ["pictures-x4", "pictures-x8", "pictures-x16"]),
    ],
    ids=["crf", "depth"],
)
def test_picture_rows(made: Results, names: list[str], tmp_path: Path) -> None:
    folder = write_run(made, tmp_path)
    write_pictures(made, folder)
    drawn = {n: f for n, f in figures_of(read(RunFolder(folder))) if n.startswith("pictures")}
    assert list(drawn) == names
    first = drawn[names[0]]
    titles = [panel.get_title() for panel in first.axes if panel.get_title()]
    if made.suite.task == "crf":
        assert titles == [
            "image", "truth", "Unaries only", "Full-CRF", "PAC-CRF, 32", "PAC-CRF, 16-64",
        ]  # fmt: skip
        assert len(first.axes) == 2 * 6
    else:
        assert titles == ["input", "guide", "BICUBIC", "DJF_OURS", "PAC_LITE", "PAC", "truth"]
        assert len(first.axes) == 2 * 2 * 7
        images = [panel.get_images()[0].get_array() for panel in first.axes if panel.get_images()]
        assert {image.shape[:2] for image in images} == {(19, 25)}  # crops of 48 × 64


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


def test_exponents() -> None:
    sizes = [1.0, 4.0, 9.0]
    assert exponent(sizes, [3 * size**1.5 for size in sizes]) == pytest.approx(1.5)


def test_the_telling_window_is_where_errors_differ() -> None:
    quiet, loud = np.zeros((2, 50, 100), dtype=np.float32)
    loud[30:45, 70:95] = 1
    rows, columns = telling_window([quiet, loud])
    assert (rows.stop - rows.start, columns.stop - columns.start) == (20, 40)
    assert rows.start <= 30
    assert rows.stop >= 45
    assert columns.start <= 70
    assert columns.stop >= 95
