"""Run folders: nothing is lost, damage is survived, one process writes at a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pacbench.environment import capture
from pacbench.errors import UserError
from pacbench.record import Failure, Record, Seconds
from pacbench.store import RunFolder, RunInfo
from pacbench.suite import Cell, load_suite

WriteSuite = Callable[..., Path]
INFO = RunInfo(suite="s", command="c", only={}, device="cpu", threads=1, cells=["a"])


@pytest.fixture
def cells(write_suite: WriteSuite) -> list[Cell]:
    return load_suite(str(write_suite(sweep={"number": [1, 2, 3]}))).cells("cpu", 1, {})


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "runs", "small", "name: small\n", capture(1), INFO)


def record_of(cell: Cell, message: str = "") -> Record:
    return Record(
        id=cell.id,
        status="error",
        cell=cell,
        failure=Failure(message=message),
        environment="e",
        command="c",
        started="2026-01-01T00:00:00+00:00",
        seconds=Seconds(process_start=1, work=1, total=2),
    )


def write(folder: RunFolder, *records: Record) -> None:
    with folder.writer() as writer:
        for record in records:
            writer.append(record)


def test_what_is_written_is_read_back(folder: RunFolder, cells: list[Cell]) -> None:
    records = [record_of(cell) for cell in cells]
    write(folder, *records[:2])
    write(folder, *records[2:])
    assert folder.records() == (records, [])
    assert folder.info() == INFO
    assert folder.environment() == capture(1)
    assert folder.suite_path().read_text() == "name: small\n"


def test_a_torn_last_line_is_dropped_and_written_anew(folder: RunFolder, cells: list[Cell]) -> None:
    write(folder, *(record_of(cell) for cell in cells[:2]))
    path = folder.path / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert folder.records() == ([record_of(cells[0])], [])
    write(folder, record_of(cells[1], "again"))
    assert folder.records() == ([record_of(cells[0]), record_of(cells[1], "again")], [])


def test_garbage_is_told_and_passed_over(folder: RunFolder, cells: list[Cell]) -> None:
    write(folder, record_of(cells[0]))
    with (folder.path / "records.jsonl").open("ab") as file:
        file.write(b"\x00\xff garbage\n" + json.dumps({"id": "x"}).encode() + b"\n")
    write(folder, record_of(cells[1]))
    records, warnings = folder.records()
    assert records == [record_of(cells[0]), record_of(cells[1])]
    assert [warning.split(": ")[0].rsplit(":", 1)[1] for warning in warnings] == ["2", "3"]


def test_the_last_record_of_a_cell_wins(folder: RunFolder, cells: list[Cell]) -> None:
    write(folder, record_of(cells[0], "first"), record_of(cells[0], "second"))
    assert folder.records() == ([record_of(cells[0], "second")], [])


def test_one_writer_at_a_time(folder: RunFolder) -> None:
    refused = pytest.raises(UserError, match="another process is writing this run")
    with folder.writer(), refused, folder.writer():
        pass
    with folder.writer():
        pass


def test_unwritable_root(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot be written: .*choose another place with --out"):
        RunFolder.create(tmp_path / "file", "small", "", capture(1), INFO)


def test_finding_runs(folder: RunFolder) -> None:
    root = folder.path.parent
    assert RunFolder.find("latest", root).path == folder.path
    assert RunFolder.find(folder.path.name, root).path == folder.path
    assert RunFolder.find(str(folder.path), Path("elsewhere")).path == folder.path
    with pytest.raises(UserError, match="is not a run folder"):
        RunFolder.find("nothing", root)
    with pytest.raises(UserError, match="cannot be read: File name too long"):
        RunFolder.find("x" * 5000, root)
    with pytest.raises(UserError, match="holds no run yet"):
        RunFolder.find("latest", root / "nothing")


@pytest.mark.parametrize("name", ["environment.json", "run.json"])
def test_damaged_files_are_told(folder: RunFolder, name: str) -> None:
    read = folder.environment if name == "environment.json" else folder.info
    (folder.path / name).write_text("{")
    with pytest.raises(UserError, match=f"{name}: is damaged"):
        read()
    (folder.path / name).unlink()
    with pytest.raises(UserError, match=f"{name}: cannot be read"):
        read()
