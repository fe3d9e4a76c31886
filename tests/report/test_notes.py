"""What stands beneath a table: training, chosen parameters, unstable timings, how to read it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from made_results import cell, crf_results, depth_results, record, results

from pacbench.method import Architecture
from pacbench.record import Record
from pacbench.report.build import data_of, table_of
from pacbench.report.reading import LAYERS, RANKS
from pacbench.timing import Timing
from pacbench.train.weights import packaged_weights, sha256_of

CHOSEN = "parameters chosen in the suite; the records have them"


def with_params(made: Record, params: dict[str, Any], **changes: Any) -> Record:
    return made.model_copy(
        update={"cell": made.cell.model_copy(update={"params": params}), **changes}
    )


def test_untrained_methods_and_weights_are_told() -> None:
    made = crf_results()
    trained = with_params(made.records[3], {"dilations": [16, 64], "weights": "mine.pt"})
    table = table_of(replace(made, records=[*made.records[:3], trained]))
    assert [row[0].mark for row in table.rows] == ["", " [1]", " [2] [3]", " [4]"]
    assert table.notes[1].startswith("[2] untrained")
    assert table.notes[3] == "[4] trained: weights mine.pt"


@pytest.mark.parametrize(
    ("name", "told"),
    [("upsample_depth/pac-factor-4", "% of the paper's"), ("crf/pac-crf-32", "steps")],
)
def test_packaged_weights_tell_how_long_they_were_trained(name: str, told: str) -> None:
    path = packaged_weights()[name]
    spec = json.loads(path.with_name("training.json").read_text())["training"]
    made = crf_results().records[3]
    row = with_params(made, {"weights": name}, weights_sha256=sha256_of(path))
    (note, *_) = table_of(results([row])).notes
    assert note.startswith(f"[1] trained for {round(spec['iterations'] * spec['budget'])} steps")
    assert note.endswith(told)
    other = row.model_copy(update={"weights_sha256": "0" * 64})  # trained anew since
    assert table_of(results([other])).notes[0] == f"[1] trained: weights {name}"


def test_what_is_trained_at_some_factors_only_says_so() -> None:
    made = depth_results()
    records = [
        with_params(each, {"weights": "pac-4"})
        if each.cell.method == "pac" and each.cell.axes["factor"] == 4
        else each
        for each in made.records
    ]
    notes = table_of(replace(made, records=records)).notes
    (told,) = [note for note in notes if "weights pac-4" in note]
    assert "4×: trained: weights pac-4; 8×, 16×: untrained" in told


def test_parameters_that_a_suite_chooses_are_told() -> None:
    made = crf_results()
    assert table_of(made).notes[0].startswith("[1] parameters are pydensecrf's customary ones")
    searched = with_params(made.records[1], {"w1": 32.0, "w2": 3.0})
    table = table_of(replace(made, records=[made.records[0], searched]))
    assert table.notes[0] == f"[1] {CHOSEN}"
    customary = with_params(made.records[1], {"w2": 3.0})  # which w2 is anyway
    table = table_of(replace(made, records=[made.records[0], customary]))
    assert table.notes[0].startswith("[1] parameters are pydensecrf's customary ones")


def test_tuned_filters_share_one_footnote() -> None:
    """At the factor at which a method was not tuned, the row says so all the same."""
    tuned = {
        "mrf": {4: {}, 8: {"c": 77.0}},
        "jbu": {4: {"sigma_range": 0.077}, 8: {"sigma_range": 0.078}},
        "bicubic": {4: {}, 8: {}},
    }
    made = [
        record(
            cell(name, task="upsample", axes={"factor": factor}, params=params),
            metric="rmse_cm",
        )
        for name, at in tuned.items()
        for factor, params in at.items()
    ]
    table = table_of(results(made))
    assert [row[0].mark for row in table.rows] == [" [1]", " [1]", ""]
    assert [note for note in table.notes if note.startswith("[")] == [f"[1] {CHOSEN}"]


def test_operators_choose_the_size_of_their_work_only() -> None:
    made = results([record(cell("pac_conv2d", task="op", params={"out_channels": 64}))])
    assert not any(note.startswith("[") for note in table_of(made).notes)


def test_the_worst_of_unstable_timings_is_told() -> None:
    shaky = record(cell("full_crf"), timing=Timing.of([[0.1, 0.2, 0.3]]))
    table = table_of(results([shaky]))
    runtime = next(e for e, c in zip(table.rows[0], table.columns, strict=True) if "run" in c.title)
    assert runtime.mark == " †"
    assert "† unstable timing: full_crf: MAD is 50% of the median" in table.notes
    worse = record(cell("pac_crf", axes={"steps": 3}), timing=Timing.of([[0.1, 0.2, 0.9, 0.9]]))
    better = record(cell("pac_crf", axes={"steps": 5}), timing=Timing.of([[0.1, 0.11, 0.12]]))
    both = results([shaky, worse, better])
    (note,) = [note for note in table_of(both).notes if "unstable" in note]
    assert note.startswith("† unstable timing: pac_crf (steps 3): MAD is")
    assert note.endswith(", and 2 more")
    titles = [column.title for column in data_of(both).columns]
    doubts = [row[titles.index("unstable")].value for row in data_of(both).rows]
    assert doubts[0] == "MAD is 50% of the median"
    assert all(doubts)
    hidden = results([shaky], outputs={"columns": ["score"]})
    assert not any("unstable" in note for note in table_of(hidden).notes)


def test_layers_are_explained_as_far_as_they_occur() -> None:
    made = record(
        cell("djf", task="upsample"),
        metric="rmse_cm",
        architecture=Architecture(parameters=1, layers={"all": ["C32", "D32"]}),
    )
    table = table_of(results([made], outputs={"columns": ["layers"]}))
    assert table.notes[-1].endswith(f": C {LAYERS['C']}, D {LAYERS['D']}")


def test_bold_and_underlined_are_explained_where_they_occur() -> None:
    made = crf_results()
    assert table_of(made).notes[-1] == RANKS
    assert RANKS not in table_of(replace(made, records=made.records[1:2])).notes


def test_one_and_many() -> None:
    one = record(cell("full_crf", threads=1), timing=Timing.of([[0.1] * 6]))
    table = table_of(results([one]))
    assert table.conditions[0] == "data: scenes, split test, 1 sample, seed 0"
    assert "1 thread," in next(line for line in table.conditions if line.startswith("device"))
    assert any(note.endswith("in 1 process") for note in table.notes)
    assert any(note.endswith("in 2 processes") for note in table_of(crf_results()).notes)
    assert "mIoU: of one image, which tells no interval" in table.notes
