"""What the summary names as best."""

from __future__ import annotations

from made_results import cell, crf_results, depth_results, record, results

from pacbench.report.build import table_of
from pacbench.report.html.summary import best, facts
from pacbench.report.run import Results


def told(*runs: Results) -> list[tuple[str, ...]]:
    return [
        tuple(entry.text for entry in row) for row in best(runs, [table_of(r) for r in runs]).rows
    ]


def test_each_suite_and_measure_has_its_best() -> None:
    found = told(crf_results(), depth_results())
    assert [line[:3] for line in found] == [
        ("crf", "mIoU, %", "PAC-CRF, 16-64"),
        ("crf", "runtime, ms", "PAC-CRF, 32"),
        ("depth", "RMSE, cm, 4×", "PAC"),
        ("depth", "RMSE, cm, 8×", "PAC"),
        ("depth", "RMSE, cm, 16×", "PAC"),
    ]
    assert found[2][3].startswith("1.65")


def test_cells_are_named_with_what_was_swept() -> None:
    steps = [
        record(cell("pac_crf", label="PAC-CRF", axes={"steps": n}), [0.5 + 0.01 * n], 0.1 * n)
        for n in (1, 3, 5)
    ]
    assert [line[1:3] for line in told(results(steps))] == [
        ("mIoU, %", "PAC-CRF (steps 5)"),
        ("runtime, ms", "PAC-CRF (steps 1)"),
    ]


def test_each_contest_has_one() -> None:
    """Those that were given different factors do not compete, whatever the layout."""
    records = [
        record(
            cell(row, task="upsample", label=row, axes={"factor": factor}),
            [1.0], seconds * factor, "rmse_cm",
        )
        for row, seconds in (("fast", 0.1), ("slow", 0.2))
        for factor in (4, 8)
    ]  # fmt: skip
    made = results(records, outputs={"columns": ["runtime"]})
    assert [line[2] for line in told(made)] == ["fast (factor 4)", "fast (factor 8)"]


def test_those_that_tie_are_all_told_and_one_alone_is_not() -> None:
    scores = {"a": 0.5, "b": 0.5, "c": 0.4}
    tied = [record(cell(name), [score], 0.1) for name, score in scores.items()]
    assert [line[1:3] for line in told(results(tied))] == [("mIoU, %", "a"), ("mIoU, %", "b")]
    assert told(results(tied[:1])) == []


def test_facts_count_what_there_is() -> None:
    counted = {what: number for number, what in facts([crf_results(), depth_results()], [])}
    assert counted["suites"] == 2
    assert counted["cells measured"] == 16
    assert counted["claims not decided: untrained"] == 0
