"""The table of CRFs: measured beside the paper's, failures and unstable timings told."""

from __future__ import annotations

from typing import Any

import pytest

from pacbench.environment import capture
from pacbench.errors import UserError
from pacbench.record import Failure, ImageScore, Record, Seconds
from pacbench.report.crf import crf_table
from pacbench.report.figures import timings, trade_off
from pacbench.report.paper import paper_rows, paper_tables
from pacbench.report.table import markdown
from pacbench.suite.cells import expand
from pacbench.suite.schema import Suite
from pacbench.timing import Timing

METHODS = [
    {"name": "unary", "paper_row": "unary"},
    {"name": "full_crf", "paper_row": "full_crf"},
    {"name": "pac_crf", "label": "PAC-CRF, 32", "params": {"dilations": [32]}},
]


def suite_of(**changes: Any) -> Suite:
    return Suite.model_validate(
        {
            "name": "crf",
            "task": "crf",
            "paper_table": "tab_crf",
            "data": {"name": "scenes"},
            "methods": METHODS,
            **changes,
        }
    )


def records_of(suite: Suite, mious: list[float], runs: list[float]) -> list[Record]:
    cells, problems = expand(suite, "cpu", 2)
    assert problems == []
    return [
        Record(
            id=cell.id,
            status="ok",
            cell=cell,
            protocol="scored so",
            metrics={"miou": miou},
            images=[ImageScore(name="a", metrics={"miou": miou})],
            timing=Timing.of([runs]),
            environment="e",
            command="c",
            started="2026-01-01T00:00:00+00:00",
            seconds=Seconds(process_start=1, work=1, total=2),
        )
        for cell, miou in zip(cells, mious, strict=True)
    ]


def test_measured_and_paper_stand_side_by_side() -> None:
    suite = suite_of()
    table = crf_table(suite, records_of(suite, [0.5, 0.5211, 0.49], [0.1, 0.1, 0.1]), capture(2))
    assert [[entry.text for entry in row] for row in table.rows] == [
        ["Unaries only", "50.00", "–", "–", "none", "65.51 / 67.20", "–"],
        ["Full-CRF [1]", "52.11", "+2.11", "100 ± 0", "pydensecrf", "+2.11 / +2.45", "629"],
        ["PAC-CRF, 32 [2]", "49.00", "−1.00", "100 ± 0", table.rows[2][4].text, "–", "–"],
    ]
    assert table.notes[1].startswith("[2] untrained")
    assert "data: scenes, split val, 1 samples, seed 0" in table.notes
    assert "protocol: scored so" in table.notes
    assert any(note.startswith("paper: as it prints them") for note in table.notes)


def test_unstable_timings_say_so() -> None:
    suite = suite_of()
    text = markdown(crf_table(suite, records_of(suite, [0.5] * 3, [0.1, 0.2, 0.3]), capture(2)))
    assert "200 ± 100 [2]" in text
    assert "unstable timing: MAD is 50% of the median" in text


def test_failed_cells_say_so() -> None:
    suite = suite_of()
    good = records_of(suite, [0.5, 0.6, 0.7], [0.1] * 3)
    failed = good[1].model_copy(
        update={"status": "timeout", "failure": Failure(message="stopped"), "timing": None}
    )
    table = crf_table(suite, [good[0], failed, good[2]], capture(2))
    assert table.rows[1][1].text == "failed [2]"
    assert table.notes[1] == "[2] timeout: stopped"


def test_swept_axes_are_columns_and_constant_ones_a_note() -> None:
    suite = suite_of(sweep={"steps": [1, 5], "rgb_scale": [30.0]}, methods=METHODS[1:])
    table = crf_table(suite, records_of(suite, [0.5] * 4, [0.1] * 3), capture(2))
    assert [column.title for column in table.columns][:2] == ["method", "steps"]
    assert [row[1].text for row in table.rows] == ["1", "5", "1", "5"]
    assert "throughout: rgb_scale = 30.0" in table.notes
    assert all(row[3].text == "–" for row in table.rows)  # without unaries there is no gain


def test_figures_are_drawn_from_what_there_is() -> None:
    suite = suite_of()
    records = records_of(suite, [0.5, 0.6, 0.7], [0.1, 0.11, 0.12])
    figure = trade_off(suite, records, None)
    assert figure is not None
    assert [panel.get_title()[:5] for panel in figure.axes] == ["measu", "the p"]
    assert [text.get_text() for text in figure.axes[0].texts] == ["Full-CRF", "PAC-CRF, 32"]
    assert timings(suite, records, None) is not None
    assert trade_off(suite, records[:1], None) is None
    assert timings(suite, records[:1], None) is None


def test_papers_tables() -> None:
    assert paper_rows("tab_crf")["pac_crf_16_64"]["gain_val"] == 3.39
    assert paper_rows(None) == {}
    assert set(paper_tables()) >= {"tab_upsample_depth", "tab_upsample_flow", "tab_hotswap"}
    with pytest.raises(UserError, match=r"no table 'tab_crff' \(did you mean 'tab_crf'"):
        paper_rows("tab_crff")


def test_the_papers_ablation_of_steps_is_found_by_steps() -> None:
    methods = [{"name": "pac_crf", "paper_row": "pac_crf_16_64"}]
    suite = suite_of(methods=methods, sweep={"steps": [1, 2]}, paper_table="tab_crf_mfsteps")
    table = crf_table(suite, records_of(suite, [0.5, 0.5], [0.1] * 3), capture(2))
    assert [[entry.text for entry in row][-2:] for row in table.rows] == [
        ["68.38 / –", "19"],
        ["–", "–"],
    ]
