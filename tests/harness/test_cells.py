"""Sweeps multiply into cells, exclusions and filters drop them, ids tell them apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pacbench.errors import UserError
from pacbench.suite import Cell, load_suite

WriteSuite = Callable[..., Path]
METHODS = [{"name": "copies"}, {"name": "unary"}]


def cells_of(path: Path, **only: str) -> list[Cell]:
    return load_suite(str(path)).cells("cpu", 1, only)


def test_axes_multiply_for_methods_that_have_them(write_suite: WriteSuite) -> None:
    path = write_suite(methods=METHODS, sweep={"number": [1, 2, 3], "seconds": [0.0, 0.1]})
    cells = cells_of(path)
    assert [cell.method for cell in cells] == ["copies"] * 6 + ["unary"]
    assert [cell.axes for cell in cells[:2]] == [
        {"number": 1, "seconds": 0.0},
        {"number": 1, "seconds": 0.1},
    ]
    assert cells[0].params == {"number": 1, "seconds": 0.0}
    assert cells[-1].axes == {}


def test_data_axes_reach_every_method(write_suite: WriteSuite) -> None:
    cells = cells_of(write_suite(methods=METHODS, sweep={"data.size": [[16, 16], [24, 24]]}))
    assert [cell.data.params["size"] for cell in cells] == [[16, 16], [24, 24]] * 2


def test_backend_axis_reaches_those_who_have_the_backends(write_suite: WriteSuite) -> None:
    cells = cells_of(write_suite(methods=METHODS, sweep={"backend": ["reference", "native"]}))
    assert [(c.method, c.backend) for c in cells] == [
        ("copies", "reference"),
        ("copies", "native"),
        ("unary", "none"),
    ]


@pytest.mark.parametrize(
    ("exclude", "left"),
    [
        ([{"number": 2}], [1, 3]),
        ([{"number": [1, 2]}], [3]),
        ([{"method": "cop*", "number": 3}], [1, 2]),
        ([{"method": "unary", "number": 3}], [1, 2, 3]),
        ([{"number": 1}, {"number": 2}], [3]),
    ],
)
def test_exclude(
    write_suite: WriteSuite, exclude: list[dict[str, object]], left: list[int]
) -> None:
    cells = cells_of(write_suite(sweep={"number": [1, 2, 3]}, exclude=exclude))
    assert [cell.params["number"] for cell in cells] == left


def test_filter_looks_at_names_labels_parameters_and_ids(write_suite: WriteSuite) -> None:
    methods = [{"name": "copies", "label": "Copy, fast"}, {"name": "unary"}]
    path = write_suite(methods=methods, sweep={"number": [1, 2]})
    everything = cells_of(path)
    assert len(everything) == 3
    assert cells_of(path, method="un*") == everything[2:]
    assert cells_of(path, method="Copy*") == everything[:2]
    assert cells_of(path, number="2") == everything[1:2]
    assert cells_of(path, cell=everything[1].id) == everything[1:2]
    with pytest.raises(UserError, match="none of the 3 cells matches"):
        cells_of(path, method="nothing*")
    with pytest.raises(UserError, match=r"no cell has 'numbr' \(did you mean 'number'"):
        cells_of(path, numbr="2")


def test_ids_follow_what_can_change_a_result(write_suite: WriteSuite) -> None:
    def identity(**changes: object) -> str:
        return cells_of(write_suite(**changes))[0].id

    same = identity()
    assert identity() == same
    assert identity(methods=[{"name": "copies", "label": "other"}]) == same
    assert identity(limits={"seconds": 5}) == same
    for change in ({"seed": 1}, {"repeats": 4}, {"methods": [{"name": "unary"}]}):
        assert identity(**change) != same


def test_cells_survive_json(write_suite: WriteSuite) -> None:
    for cell in cells_of(write_suite(methods=METHODS, sweep={"number": [1, 2]})):
        assert Cell.model_validate_json(cell.model_dump_json()) == cell
