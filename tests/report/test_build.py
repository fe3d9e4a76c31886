"""Tables of runs: measured beside the paper's, intervals, failures and unstable timings told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_results import ENVIRONMENT, cell, crf_results, depth_results, failed, record, results

from pacbench.errors import UserError
from pacbench.method import Architecture
from pacbench.report.build import data_of, table_of
from pacbench.report.paper import PaperFigures, paper_figures, paper_rows, paper_tables
from pacbench.report.run import by_suite, merge
from pacbench.report.table import Table
from pacbench.timing import Timing


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
        "paper: mIoU or gain, % (val / test)",
        "paper: runtime, ms",
    ]
    shown = texts(table)
    assert shown[0] == ["Unaries only", "50.59 ± 3.12", *["–"] * 5, "65.51 / 67.20", "–"]
    assert shown[1][0] == "Full-CRF"
    assert shown[1][2].startswith("+2.22")  # the gain is paired: its interval is far narrower
    assert float(shown[1][2].split(" ± ")[1]) < 0.2
    assert shown[2][4:6] == ["10.0", "40.0"]
    assert shown[3][-2:] == ["+3.39 / +2.62", "78"]


def test_the_best_is_marked_and_the_second() -> None:
    table = table_of(crf_results())
    ranks = {column.title: i for i, column in enumerate(table.columns) if column.group != "paper"}
    assert [row[ranks["gain, points"]].rank for row in table.rows] == [0, 0, 2, 1]
    assert [row[ranks["runtime, ms"]].rank for row in table.rows] == [0, 0, 1, 2]
    assert [row[ranks["memory, MB"]].rank for row in table.rows] == [0, 0, 0, 0]  # all alike
    assert [row[-2].rank for row in table.rows] == [0, 0, 2, 1]


def test_the_caption_tells_data_protocol_device_and_backend() -> None:
    table = table_of(crf_results())
    caption = table.whole_caption
    assert caption.startswith("Made for a test. Data: scenes, split test, 6 samples, seed 0. ")
    assert "Protocol: scenes-1; scored so." in caption
    assert f"Device: cpu ({ENVIRONMENT.cpu}" in caption
    assert "Backend: native; pydensecrf for Full-CRF." in caption
    assert any(note.startswith("paper: as it prints them, for Pascal VOC") for note in table.notes)


def test_untrained_methods_and_weights_are_told() -> None:
    made = crf_results()
    trained = made.records[3].model_copy(
        update={
            "cell": made.records[3].cell.model_copy(
                update={"params": {"dilations": [16, 64], "weights": "pac_crf_16_64"}}
            )
        }
    )
    table = table_of(replace(made, records=[*made.records[:3], trained]))
    assert [row[0].mark for row in table.rows] == ["", " [1]", " [2]", " [3]"]
    assert table.notes[1].startswith("[2] untrained")
    assert table.notes[2] == "[3] trained: weights pac_crf_16_64"


def test_parameters_that_a_suite_chooses_are_told() -> None:
    made = crf_results()
    searched = made.records[1].cell.model_copy(update={"params": {"w1": 32.0, "w2": 3.0}})
    records = [made.records[0], made.records[1].model_copy(update={"cell": searched})]
    assert table_of(made).notes[0].startswith("[1] parameters are pydensecrf's customary ones")
    notes = table_of(replace(made, records=records)).notes
    assert notes[0] == "[1] parameters chosen in the suite: w1 = 32.0"  # 3.0 is w2 anyway
    crf = {"name": "pac_crf", "params": {"dilations": [16, 64]}}
    both = record(cell("fcn8s", task="hotswap", params={"crf": crf}))
    told = "parameters chosen in the suite: crf = pac_crf (dilations = [16, 64])"
    assert table_of(results([both])).notes[0].endswith(told)


def test_factors_stand_across() -> None:
    table = table_of(depth_results())
    assert titles(table) == [
        ": method",
        *(f"{m}×: {title}" for m in (4, 8, 16) for title in ("RMSE, cm", "paper, cm")),
        ": runtime, ms (4× / 8× / 16×)",
        ": memory, MB (4× / 8× / 16×)",
    ]
    assert [row[0].text for row in table.rows] == ["BICUBIC", "DJF_OURS", "PAC_LITE", "PAC"]
    assert [entry.text for entry in table.rows[3]][1:3] == ["1.65 ± 0.15", "2.39"]
    assert [row[1].rank for row in table.rows] == [0, 0, 2, 1]
    assert table.rows[3][-2].text == "15.06 / 15.06 / 15.06 ± 1%"
    protocol = "protocol: scenes-1; depth,center,x4 or depth,center,x8 or depth,center,x16; rmse:cm"
    assert protocol in table.conditions


def test_what_is_trained_at_some_factors_only_says_so() -> None:
    made = depth_results()
    records = [
        each.model_copy(
            update={"cell": each.cell.model_copy(update={"params": {"weights": "pac-4"}})}
        )
        if each.cell.method == "pac" and each.cell.axes["factor"] == 4
        else each
        for each in made.records
    ]
    notes = table_of(replace(made, records=records)).notes
    (told,) = [note for note in notes if "weights pac-4" in note]
    assert "4×: trained: weights pac-4; 8×: untrained" in told
    assert "; 16×: untrained" in told


def test_programs_get_a_row_per_cell() -> None:
    table = data_of(depth_results())
    assert len(table.rows) == 12
    column = [c.title for c in table.columns].index("RMSE, cm")
    entry = table.rows[0][column]
    assert (entry.low, entry.high) == pytest.approx((4.007, 4.793), abs=0.001)
    assert [c.title for c in table.columns][-2:] == ["cell", "status"]


def test_suites_choose_columns_and_rows() -> None:
    chosen = {"columns": ["runtime", "backend"], "rows": ["pac_crf", "Full*"]}
    table = table_of(crf_results(outputs=chosen, paper_table=None))
    assert titles(table) == [": method", ": runtime, ms", ": backend"]
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
    often = record(cell("full_crf"), timing=Timing.of([[0.1, 0.1001, 0.1002, 0.1003, 0.1004]]))
    table = table_of(results([often], outputs={"columns": ["runtime"]}))
    assert table.rows[0][1].text == "100.2 ± 0.2"


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
    assert [row[-2].text for row in table.rows][1] == "67.44 / 69.18"


def test_unstable_timings_say_so() -> None:
    of = cell("full_crf")
    shaky = record(of, timing=Timing.of([[0.1, 0.2, 0.3]]))
    table = table_of(results([shaky]))
    runtime = next(e for e, c in zip(table.rows[0], table.columns, strict=True) if "run" in c.title)
    assert runtime.mark == " †"
    assert "† unstable timing: full_crf: MAD is 50% of the median" in table.notes
    both = [shaky, record(cell("full_crf", seed=1), timing=shaky.timing)]
    note = "† unstable timing: full_crf: MAD is 50% of the median, and 1 more"
    assert note in table_of(results(both)).notes


def test_failed_cells_say_so() -> None:
    made = crf_results()
    table = table_of(replace(made, records=[made.records[0], failed(made.records[1].cell)]))
    assert table.rows[1][1].text == "failed"
    assert "[2] timeout: stopped" in table.notes
    assert data_of(replace(made, records=[failed(made.records[1].cell)])).rows[0][-1].text == (
        "timeout"
    )


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


def test_runs_merge_within_an_environment() -> None:
    made = crf_results()
    first, second = (replace(made, records=made.records[a:b]) for a, b in ((0, 2), (2, 4)))
    assert table_of(merge([first, second])).rows == table_of(made).rows
    again = merge([made, second])
    assert len(again.records) == 4
    assert again.warnings[0].endswith("is in several runs; the last stands")
    other = ENVIRONMENT.model_copy(update={"cpu": "another"})
    elsewhere = replace(
        second,
        environments={other.id: other},
        records=[r.model_copy(update={"environment": other.id}) for r in second.records],
    )
    with pytest.raises(UserError, match=r"cpu: .*, another\n(.|\n)*--mix-environments"):
        merge([first, elsewhere])
    mixed = table_of(merge([first, elsewhere], mix_environments=True))
    assert sum(line.startswith("device: ") for line in mixed.conditions) == 2
    assert any("measured on another" in note for note in mixed.notes)
    with pytest.raises(UserError, match="is of task 'upsample'"):
        merge([made, depth_results()])


def test_a_report_groups_runs_by_suite() -> None:
    made = crf_results()
    halves = [replace(made, records=made.records[a:b]) for a, b in ((0, 2), (2, 4))]
    grouped = by_suite([halves[0], depth_results(), halves[1]])
    assert [(len(run.records), run.suite.name) for run in grouped] == [(4, "crf"), (12, "depth")]
