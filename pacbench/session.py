"""A run from its start or from where it was interrupted to its last cell."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pacbench.data.base import datasets
from pacbench.device import resolve_device
from pacbench.environment import Environment, capture, usable_cores
from pacbench.errors import UserError
from pacbench.progress import progress
from pacbench.runner import Trace, groups, run_group
from pacbench.store import RunFolder, RunInfo
from pacbench.suite.cells import Cell
from pacbench.suite.load import Source, load_suite
from pacbench.suite.schema import DeviceChoice
from pacbench.timing.peak import measure


@dataclass(frozen=True)
class Plan:
    """What a run will do: its cells, and how to ask for it again."""

    source: Source
    cells: list[Cell]
    info: RunInfo


def plan(
    suite: str,
    *,
    overrides: Sequence[str] = (),
    only: dict[str, str] | None = None,
    device: DeviceChoice | None = None,
    threads: int | None = None,
) -> Plan:
    """Read a suite and expand its cells; the options stand above what the suite says."""
    source = load_suite(suite, list(overrides))
    chosen_device = resolve_device(device or source.suite.device)
    chosen_threads = threads or source.suite.threads or usable_cores()
    cells = source.cells(chosen_device, chosen_threads, only or {})
    options = [f"--set={override}" for override in overrides]
    options += [f"--device={device}"] if device else []
    options += [f"--threads={threads}"] if threads else []
    info = RunInfo(
        suite=suite,
        command=shlex.join(["pacbench", "run", suite, *options]),
        only=only or {},
        device=chosen_device,
        threads=chosen_threads,
        cells=[cell.id for cell in cells],
    )
    return Plan(source, cells, info)


@dataclass(frozen=True)
class Session:
    """A run folder and what is left to do in it."""

    folder: RunFolder
    cells: list[Cell]
    finished: frozenset[str]
    environment: Environment
    command: str

    def run(self, quiet: bool = False) -> None:
        """Run every cell that is not finished; its record is on disk as soon as it ends.

        Cells that share data are timed against each other and end together.
        """
        left = [cell for cell in self.cells if cell.id not in self.finished]
        if any(cell.task == "op" for cell in left) and not self.folder.peaks():
            threads = sorted({cell.threads for cell in self.cells})
            self.folder.write_peaks([measure(count) for count in threads])
        with (
            self.folder.writer() as writer,
            progress(len(self.cells), len(self.finished), quiet) as shown,
        ):
            trace = Trace(
                self.folder.pictures,
                self.environment.id,
                lambda cell: f"{self.command} --filter cell={cell.id}",
                shown.reach,
            )
            for group in groups(left):
                shown.begin(group)
                for record in run_group(group, trace):
                    writer.append(record)
                    shown.end(record)


def create(planned: Plan, root: Path) -> Session:
    """A new run folder under ``root``, with everything still to do."""
    check_data(planned.cells)
    environment = capture(planned.info.threads)
    source = planned.source
    folder = RunFolder.create(root, source.suite.name, source.text, environment, planned.info)
    return Session(folder, planned.cells, frozenset(), environment, planned.info.command)


def reopen(folder: RunFolder) -> Session:
    """A run that was interrupted; refused where its figures could not be mixed with new ones."""
    info = folder.info()
    source = load_suite(str(folder.suite_path()))
    cells = source.cells(resolve_device(info.device), info.threads, info.only)
    if [cell.id for cell in cells] != info.cells:
        raise UserError(
            f"{folder.path}: this version of pacbench makes other cells of the suite than the one "
            f"that began the run; start a new one with `{info.command}`"
        )
    environment = capture(info.threads)
    if differences := folder.environment().differences(environment):
        raise UserError(
            f"{folder.path}: was measured in another environment (then, now):\n  "
            + "\n  ".join(differences)
            + f"\nso its figures cannot be mixed with new ones; start a new run: `{info.command}`"
        )
    check_data(cells)
    records, _ = folder.records()
    finished = frozenset(record.id for record in records)
    return Session(folder, cells, finished, environment, info.command)


def check_data(cells: Sequence[Cell]) -> None:
    """Open every dataset that the cells name, so that a missing one is said before any runs."""
    for cell in {cell.data.model_dump_json(): cell for cell in cells}.values():
        cls = datasets[cell.data.name]
        dataset = cls(cls.Params(**cell.data.params), split=cell.data.split, seed=cell.seed)
        if len(dataset) == 0:
            raise UserError(f"dataset '{cell.data.name}', split {cell.data.split}: has no samples")
