"""Several runs as one, or one for each suite: what stands, and what is told of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_results import ENVIRONMENT, crf_results, depth_results

from pacbench.environment import Environment
from pacbench.errors import UserError
from pacbench.report.build import data_of, table_of
from pacbench.report.run import Results, by_suite, merge, several_machines

ELSEWHERE = ENVIRONMENT.model_copy(update={"cpu": "another"})


def measured_in(made: Results, environment: Environment) -> Results:
    records = [r.model_copy(update={"environment": environment.id}) for r in made.records]
    return replace(made, environments={environment.id: environment}, records=records)


def test_runs_merge_within_an_environment() -> None:
    made = crf_results()
    first, second = (replace(made, records=made.records[a:b]) for a, b in ((0, 2), (2, 4)))
    assert table_of(merge([first, second])).rows == table_of(made).rows
    again = merge([made, second])
    assert len(again.records) == 4
    assert again.warnings[0].endswith("is in several runs; that of nowhere stands")
    with pytest.raises(UserError, match=r"cpu: .*, another\n(.|\n)*--mix-environments"):
        merge([first, measured_in(second, ELSEWHERE)])
    with pytest.raises(UserError, match="is of task 'upsample'"):
        merge([made, depth_results()])


def test_a_cell_of_two_machines_has_a_row_of_each() -> None:
    made = crf_results()
    mixed = merge([made, measured_in(made, ELSEWHERE)], mix_environments=True)
    assert mixed.warnings == []
    table = table_of(mixed)
    assert [row[0].text for row in table.rows] == 2 * [r.cell.label for r in made.records]
    devices = [line for line in table.conditions if line.startswith("device: ")]
    assert [line.rpartition(", environment ")[2] for line in devices] == [*mixed.environments]
    (note,) = [note for note in table.notes if "measured in environment" in note]
    mark, _, told = note.partition(" ")
    assert told == f"measured in environment {ELSEWHERE.id}, which differs in cpu"
    assert [mark in row[0].mark for row in table.rows] == [False] * 4 + [True] * 4
    runtime = [column.title for column in table.columns].index("runtime, ms")
    assert [row[runtime].rank for row in table.rows] == 2 * [0, 0, 1, 2]  # each machine by itself
    environments = [row[-3].value for row in data_of(mixed).rows]
    assert environments == [ENVIRONMENT.id] * 4 + [ELSEWHERE.id] * 4


def test_rows_of_two_machines_stand_apart_where_factors_stand_across() -> None:
    made = depth_results()
    mixed = merge([made, measured_in(made, ELSEWHERE)], mix_environments=True)
    labels = [row[0].text for row in table_of(mixed).rows]
    assert labels == 2 * [row[0].text for row in table_of(made).rows]


def test_what_differs_is_named_as_far_as_a_line_holds() -> None:
    changes = {"cpu": "x", "torch": "1", "python": "2", "commit": "a", "os": "b", "cores": 77}
    other = ENVIRONMENT.model_copy(update=changes)
    made = crf_results()
    table = table_of(merge([made, measured_in(made, other)], mix_environments=True))
    (note,) = [note for note in table.notes if "measured in environment" in note]
    assert note.endswith(", which differs in commit, cores, cpu, os and 2 more")


def test_a_report_groups_runs_by_suite() -> None:
    made = crf_results()
    halves = [replace(made, records=made.records[a:b]) for a, b in ((0, 2), (2, 4))]
    grouped = by_suite([halves[0], depth_results(), halves[1]])
    assert [(len(run.records), run.suite.name) for run in grouped] == [(4, "crf"), (12, "depth")]


def test_suites_of_several_machines_say_so() -> None:
    here = [crf_results(), depth_results()]
    assert several_machines(here) == []
    commit = ENVIRONMENT.model_copy(update={"commit": "other"})  # on the same machine
    assert several_machines([here[0], measured_in(here[1], commit)]) == []
    (warning,) = several_machines([here[0], measured_in(here[1], ELSEWHERE)])
    assert f"crf on {ENVIRONMENT.machine}; depth on another, {ENVIRONMENT.cores} core" in warning
