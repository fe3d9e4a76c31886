"""Tables of runs: measured beside the paper's, intervals, failures and unstable timings told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_results import ENVIRONMENT, cell, crf_results, depth_results, failed, record, results

from pacbench.errors import UserError
from pacbench.method import Architecture
from pacbench.report.build import data_of, table_of
from pacbench.report.paper import PaperFigures, paper_figures, paper_rows, paper_tables
from pacbench.report.table import Table
from pacbench.timing import Timing
from pacbench.timing.cost import Cost
from pacbench.timing.peak import Peak


def texts(table: Table) -> list[list[str]]:
    return [[entry.text for entry in row] for row in table.rows]


def titles(table: Table) -> list[str]:
    return [f"{column.group}: {column.title}" for column in table.columns]


def test_measured_and_paper_stand_side_by_side() -> None:
    table = table_of(crf_results())
    assert titles(table) == [
        ": method",
        "measured: mIoU, %",
        "measured: gain, points",
        "measured: runtime, ms",
        "measured: set-up, ms",
        "measured: step, ms",
        "measured: memory, MB",
        "paper: mIoU or gain (val)",
        "paper: mIoU or gain (test)",
        "paper: runtime, ms",
    ]
    shown = texts(table)
    assert shown[0] == ["Unaries only", "50.59 ± 3.12", *["–"] * 5, "65.51", "67.20", "–"]
    assert shown[1][0] == "Full-CRF"
    assert shown[1][2].startswith("+2.22")  # the gain is paired: its interval is far narrower
    assert float(shown[1][2].split(" ± ")[1]) < 0.2
    assert shown[2][4:6] == ["10.0", "40.0"]
    assert shown[3][-3:] == ["+3.39", "+2.62", "78"]


def test_the_best_is_marked_and_the_second() -> None:
    table = table_of(crf_results())
    ranks = {column.title: i for i, column in enumerate(table.columns) if column.group != "paper"}
    assert [row[ranks["gain, points"]].rank for row in table.rows] == [0, 0, 2, 1]
    assert [row[ranks["runtime, ms"]].rank for row in table.rows] == [0, 0, 1, 2]
    assert [row[ranks["memory, MB"]].rank for row in table.rows] == [0, 0, 0, 0]  # all alike
    assert [row[-3].rank for row in table.rows] == [0, 0, 2, 1]


def test_the_papers_val_and_test_are_ranked_each_by_itself() -> None:
    """PAC-CRF 32 is second on val and last on test; the unaries' mIoU is no gain."""
    table = table_of(crf_results())
    assert [row[-2].text for row in table.rows] == ["67.20", "+2.45", "+2.21", "+2.62"]
    assert [row[-2].rank for row in table.rows] == [0, 2, 0, 1]
    columns = [column.title for column in data_of(crf_results()).columns]
    places = [columns.index(f"mIoU or gain ({split})") for split in ("val", "test")]
    rows = data_of(crf_results()).rows
    assert [[row[place].value for place in places] for row in rows] == [
        [65.51, 67.20],
        [2.11, 2.45],
        [3.01, 2.21],
        [3.39, 2.62],
    ]


def test_the_caption_tells_data_protocol_device_and_backend() -> None:
    table = table_of(crf_results())
    caption = table.whole_caption
    assert caption.startswith("Made for a test. Data: scenes, split test, 6 samples, seed 0. ")
    assert "Protocol: scenes-1; scored so." in caption
    assert f"Device: cpu ({ENVIRONMENT.cpu}" in caption
    assert "Backend: native; pydensecrf for Full-CRF." in caption
    assert any(note.startswith("paper: as it prints them, for Pascal VOC") for note in table.notes)


def test_factors_stand_across() -> None:
    table = table_of(depth_results())
    assert titles(table) == [
        ": method",
        *(f"{m}×: {title}" for m in (4, 8, 16) for title in ("RMSE, cm", "paper")),
        ": runtime, ms (4× / 8× / 16×)",
        ": memory, MB (4× / 8× / 16×)",
    ]
    assert [row[0].text for row in table.rows] == ["BICUBIC", "DJF_OURS", "PAC_LITE", "PAC"]
    assert [entry.text for entry in table.rows[3]][1:3] == ["1.65 ± 0.15", "2.39"]
    assert [row[1].rank for row in table.rows] == [0, 0, 2, 1]
    assert table.rows[3][-2].text == "15.06 ± 1% / 15.06 ± 1% / 15.06 ± 1%"
    protocol = "protocol: scenes-1; depth,center,x4 or depth,center,x8 or depth,center,x16; rmse:cm"
    assert protocol in table.conditions


def test_values_that_share_a_cell_have_an_interval_and_a_mark_each() -> None:
    made = depth_results()
    blocks = {
        4: [[0.1 + 0.0002 * i for i in range(6)]],
        8: [[0.2, 0.21, 0.22]],
        16: [[0.3, 0.6, 0.9] * 3],
    }
    records = [
        each.model_copy(update={"timing": Timing.of(blocks[each.cell.axes["factor"]])})
        for each in made.records
    ]
    table = table_of(replace(made, records=records))
    assert table.rows[0][-2].text == "100 ± 1% / 210 / 600 ± 50% †"
    assert table.rows[0][-2].mark == ""


def test_programs_get_a_row_per_cell() -> None:
    table = data_of(depth_results())
    assert len(table.rows) == 12
    column = [c.title for c in table.columns].index("RMSE, cm")
    entry = table.rows[0][column]
    assert (entry.low, entry.high) == pytest.approx((4.007, 4.793), abs=0.001)
    extra = ["unstable", "environment", "cell", "status"]
    assert [c.title for c in table.columns][-4:] == extra
    assert [entry.value for entry in table.rows[0][-4:]][:2] == ["", ENVIRONMENT.id]


def test_suites_choose_columns_and_rows() -> None:
    chosen = {"columns": ["runtime", "backend"], "rows": ["pac_crf", "Full*"]}
    table = table_of(crf_results(outputs=chosen, paper_table=None))
    assert titles(table) == [": method", ": runtime, ms", ": backend"]
    assert not any(note.startswith(("mIoU", "memory")) for note in table.notes)  # not shown
    assert [row[0].text for row in table.rows] == ["Full-CRF", "PAC-CRF, 32", "PAC-CRF, 16-64"]
    with pytest.raises(UserError, match="no row is called nothing; there are Unaries only, Full"):
        table_of(crf_results(outputs={"rows": ["nothing"]}))
    with pytest.raises(UserError, match="'steps' is no axis of more than one value"):
        table_of(crf_results(outputs={"across": "steps"}))


def test_gains_do_not_need_the_row_that_they_are_counted_from() -> None:
    table = table_of(crf_results(outputs={"rows": ["PAC-CRF*"]}))
    gains = [column.title for column in table.columns].index("gain, points")
    assert [row[gains].text.partition(" ")[0] for row in table.rows] == ["+3.22", "+4.22"]


def test_a_method_without_the_axis_stands_in_all_columns() -> None:
    steps = [
        record(cell("pac_crf", params={"steps": n}, axes={"steps": n}), [0.5 + 0.01 * n])
        for n in (1, 5)
    ]
    made = [record(cell("unary"), [0.4]), *steps]
    table = table_of(results(made, outputs={"across": "steps", "columns": ["score"]}))
    assert titles(table) == [": method", "steps 1: mIoU, %", "steps 5: mIoU, %"]
    assert texts(table) == [["unary", "40.00", "40.00"], ["pac_crf", "51.00", "55.00"]]


def test_cells_of_different_factors_do_not_compete() -> None:
    table = table_of(depth_results(outputs={"columns": ["runtime"]}))
    assert [row[0].text for row in table.rows if row[2].rank == 1] == ["PAC"] * 3


def test_a_runtime_that_is_hardly_known_has_no_interval() -> None:
    once = record(cell("full_crf"), timing=Timing.of([[0.1], [0.1234]]))
    table = table_of(results([once], outputs={"columns": ["runtime"]}))
    assert (table.rows[0][1].text, table.rows[0][1].mark) == ("112", " †")
    five = [0.1, 0.1001, 0.1002, 0.1003, 0.1004]
    for blocks, text in ((five, "100"), ([*five, 0.1006], "100.2 ± 0.4")):
        often = record(cell("full_crf"), timing=Timing.of([blocks]))
        table = table_of(results([often], outputs={"columns": ["runtime"]}))
        assert table.rows[0][1].text == text
    assert "over rounds; each image timed 6 or more times" in table.notes[-1]


@pytest.mark.parametrize(
    ("held", "text"), [(4096, "<0.01"), (758_000, "0.76"), (4_910_000, "4.91"), (99_960_000, "100")]
)
def test_memory_is_told_as_finely_as_it_is_measured(held: int, text: str) -> None:
    made = results([record(cell("full_crf"), memory=held)], outputs={"columns": ["memory"]})
    (entry,) = table_of(made).rows[0][1:]
    assert (entry.text, entry.value) == (text, held / 1e6)


def test_what_is_faster_than_memory_is_in_cache() -> None:
    peak = Peak(threads=2, flops_per_second=1e9, bytes_per_second=1e9)
    costs = {"copy": Cost(flops=0, bytes=2e8), "product": Cost(flops=2e7, bytes=1)}
    made = [record(cell(name, task="op"), cost=cost) for name, cost in costs.items()]
    table = table_of(replace(results(made, outputs={"columns": ["share"]}), peaks=[peak]))
    assert [row[1].text for row in table.rows] == ["in cache", "20%"]
    assert table.notes[-1].endswith(
        "in cache: faster than memory, for what it moves fits into the caches"
    )
    table = table_of(replace(results(made[1:], outputs={"columns": ["share"]}), peaks=[peak]))
    assert "in cache" not in table.notes[-1]


def test_sizes_read_as_sizes() -> None:
    sizes = [record(cell("conv_crf", axes={"data.size": [h, 2 * h]})) for h in (8, 16)]
    table = table_of(results(sizes))
    assert table.columns[1].title == "size"
    assert [row[1].text for row in table.rows] == ["8×16", "16×32"]


def test_architectures() -> None:
    table = table_of(depth_results(paper_table="tab_upsample_arch"))
    assert [c.title for c in table.columns][:4] == ["method", "factor", "layers", "parameters, K"]
    assert texts(table)[3][2:5] == ["C32 C1", "56.0", "1.00"]
    assert texts(table)[9][-1] == "183"


def test_hot_swapping_counts_gains_from_its_first_network() -> None:
    rows = ("fcn8s", "pac_fcn", "fcn8s_pac_crf")
    made = [
        record(
            cell(row, task="hotswap"),
            [0.5 + 0.02 * i + 0.01 * j for j in range(4)],
            architecture=Architecture(parameters=1_200_000),
        )
        for i, row in enumerate(rows)
    ]
    table = table_of(results(made, paper_table="tab_hotswap"))
    assert table.columns[0].title == "network"
    assert [row[2].text for row in table.rows] == ["–", "+2.00 ± 0.00", "+4.00 ± 0.00"]
    assert [row[5].text for row in table.rows] == ["1200"] * 3
    assert [entry.text for entry in table.rows[1]][-3:-1] == ["67.44", "69.18"]


def test_failed_cells_say_so() -> None:
    made = crf_results()
    table = table_of(replace(made, records=[made.records[0], failed(made.records[1].cell)]))
    assert table.rows[1][1].text == "failed"
    assert "[2] timeout: stopped" in table.notes
    alone = data_of(replace(made, records=[failed(made.records[1].cell)]))
    assert alone.rows[0][-1].text == "timeout"
    assert "data: scenes, split test, seed 0" in alone.conditions
    assert not any("runtime" in note for note in alone.notes if note.startswith("runtime"))


def test_swept_axes_are_columns_and_constant_ones_a_note() -> None:
    made = [record(cell("pac_crf", axes={"steps": n, "rgb_scale": 30.0})) for n in (1, 5)]
    table = table_of(results(made))
    assert [column.title for column in table.columns][:2] == ["method", "steps"]
    assert [row[1].text for row in table.rows] == ["1", "5"]
    assert "throughout: rgb_scale = 30.0" in table.conditions


def test_the_papers_figures() -> None:
    assert paper_rows("tab_crf")["pac_crf_16_64", None].value == 3.39
    assert paper_rows(None) == {}
    assert set(paper_tables()) >= {"tab_upsample_depth", "tab_upsample_flow", "tab_hotswap"}
    for table in paper_tables():
        assert paper_rows(table), table
    steps = cell("pac_crf", paper_row="pac_crf_16_64", params={"steps": 3})
    assert paper_figures("tab_crf_mfsteps", steps) == PaperFigures("68.72", 68.72, 49)
    factor = cell("pac", task="upsample", protocol={"factor": 8})
    assert paper_figures("tab_upsample_flow", factor) == PaperFigures("0.256", 0.256)
    assert paper_figures("tab_upsample_arch", factor) == PaperFigures(parameters_k=222)
    with pytest.raises(UserError, match=r"no table 'tab_crff' \(did you mean 'tab_crf'"):
        paper_rows("tab_crff")
