"""Run folders: the suite, the environment and the records of one run, safe against crashes.

``results/runs/<suite>-<utc time>-<short id>/`` holds ``suite.yaml``, ``environment.json``,
``run.json``, ``records.jsonl``, ``pictures/``, ``tables/`` and ``figures/``, and for operators
``calibration.json``. A record is one line, appended and synced as its cell ends; a line that a
crash cut short is dropped on the next opening.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from pacbench.environment import Environment
from pacbench.errors import UserError
from pacbench.json_lines import append, complete_lines, drop_torn_line
from pacbench.method import DeviceName
from pacbench.record import Record
from pacbench.timing.peak import Peak

M = TypeVar("M", bound=BaseModel)


class RunInfo(BaseModel):
    """How a run was asked for, so that it can be resumed and repeated."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suite: str
    command: str
    only: dict[str, str]
    device: DeviceName
    threads: int
    cells: list[str]


class Calibration(BaseModel):
    """The machine's own limits, measured at the start of a run that compares with them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    peaks: list[Peak]


class RunFolder:
    """One run on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(
        cls, root: Path, name: str, suite_text: str, environment: Environment, info: RunInfo
    ) -> RunFolder:
        """Make a new run folder under ``root``; an unwritable ``root`` is a ``UserError``."""
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        path = root / f"{name}-{stamp}-{secrets.token_hex(3)}"
        try:
            path.mkdir(parents=True)
            _write(path / "suite.yaml", suite_text)
            _write(path / "environment.json", environment.model_dump_json(indent=2))
            _write(path / "run.json", info.model_dump_json(indent=2))
            _write(path / "records.jsonl", "")
        except OSError as error:
            raise UserError(
                f"{path}: the run folder cannot be written: {error.strerror}; "
                "choose another place with --out"
            ) from None
        return cls(path)

    @classmethod
    def find(cls, name: str, root: Path) -> RunFolder:
        """The run at a path, of a name under ``root``, or the newest there (``latest``)."""
        if name == "latest":
            runs = [p for p in root.glob("*/records.jsonl") if p.is_file()]
            if not runs:
                raise UserError(f"{root}: holds no run yet; start one with `pacbench run crf`")
            return cls(max(runs, key=lambda p: p.parent.stat().st_mtime).parent)
        try:
            for path in (Path(name), root / name):
                if (path / "records.jsonl").is_file():
                    return cls(path)
        except OSError as error:
            raise UserError(f"{name}: cannot be read: {error.strerror}") from None
        raise UserError(
            f"{name}: is not a run folder (it has no records.jsonl); runs are kept in {root}"
        )

    @property
    def pictures(self) -> Path:
        return self.path / "pictures"

    def suite_path(self) -> Path:
        return self.path / "suite.yaml"

    def environment(self) -> Environment:
        return self._read_model("environment.json", Environment)

    def info(self) -> RunInfo:
        return self._read_model("run.json", RunInfo)

    def peaks(self) -> list[Peak]:
        """What the machine could do at most, by threads; empty where it was not measured."""
        if not (self.path / "calibration.json").exists():
            return []
        return self._read_model("calibration.json", Calibration).peaks

    def write_peaks(self, peaks: list[Peak]) -> None:
        text = Calibration(peaks=peaks).model_dump_json(indent=2)
        _write(self.path / "calibration.json", text)

    def records(self) -> tuple[list[Record], list[str]]:
        """The records in order, the last one of a cell winning, and warnings on unusable lines."""
        records: dict[str, Record] = {}
        warnings = []
        for number, line in enumerate(self._lines(), start=1):
            try:
                record = Record.model_validate_json(line)
            except ValidationError as error:
                reason = _reason(error)
                warnings.append(f"{self.path / 'records.jsonl'}:{number}: ignored: {reason}")
            else:
                records[record.id] = record
        return list(records.values()), warnings

    @contextmanager
    def writer(self) -> Iterator[RecordWriter]:
        """The right to append; a second process that asks for it gets a ``UserError``."""
        path = self.path / "records.jsonl"
        try:
            file = path.open("r+b")
        except OSError as error:
            raise UserError(f"{path}: cannot be written: {error.strerror}") from None
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UserError(f"{self.path}: another process is writing this run") from None
            drop_torn_line(file)
            yield RecordWriter(file)

    def _lines(self) -> list[bytes]:
        path = self.path / "records.jsonl"
        try:
            return complete_lines(path)
        except OSError as error:
            raise UserError(f"{path}: cannot be read: {error.strerror}") from None

    def _read_model(self, name: str, model: type[M]) -> M:
        path = self.path / name
        try:
            return model.model_validate_json(path.read_bytes())
        except OSError as error:
            raise UserError(f"{path}: cannot be read: {error.strerror}") from None
        except ValidationError as error:
            raise UserError(f"{path}: is damaged: {_reason(error)}") from None


class RecordWriter:
    """Appends records; each is on disk when ``append`` returns."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def append(self, record: Record) -> None:
        append(self._file, record.model_dump(mode="json"))


def _reason(error: ValidationError) -> str:
    """``schema_version: 99 is newer than 1 …``: the first of what is wrong, and where."""
    first = error.errors(include_url=False)[0]
    place = "".join(f"{part}: " for part in first["loc"][-1:])
    return place + first["msg"].removeprefix("Value error, ")


def _write(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
