"""A run, read back whole, or several as one: what tables, figures and claims are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pacbench.environment import Environment
from pacbench.errors import UserError
from pacbench.record import Record
from pacbench.store import RunFolder
from pacbench.suite.load import load_suite
from pacbench.suite.schema import Suite
from pacbench.timing.peak import Peak

MOST_TOLD = 3
"""Lines of a file of which it is told why they cannot be read."""


@dataclass(frozen=True)
class Results:
    """The suite of a run, its environment and its records in the order of the suite's cells.

    Attributes:
        folders: of the run, or of all that were merged.
        environments: by id, that of the run first; records name theirs.
        peaks: the machine's limits by threads, where they were measured.
    """

    folders: list[RunFolder]
    suite: Suite
    environments: dict[str, Environment]
    records: list[Record]
    peaks: list[Peak]
    warnings: list[str]

    @property
    def folder(self) -> RunFolder:
        return self.folders[0]

    @property
    def environment(self) -> Environment:
        return next(iter(self.environments.values()))


def read(folder: RunFolder) -> Results:
    """Everything that a run holds; a run without any record is a ``UserError``."""
    suite = load_suite(str(folder.suite_path())).suite
    order = {cell: position for position, cell in enumerate(folder.info().cells)}
    records, warnings = folder.records()
    if warnings and not records:
        more = [f"and {len(warnings) - MOST_TOLD} more"] if len(warnings) > MOST_TOLD else []
        said = [f"{folder.path}: none of its records can be read:", *warnings[:MOST_TOLD], *more]
        raise UserError("\n  ".join(said))
    if not records:
        raise UserError(
            f"{folder.path}: has no finished cell yet; go on with "
            f"`pacbench run --resume {folder.path}`"
        )
    records.sort(key=lambda record: order.get(record.id, len(order)))
    environment = folder.environment()
    environments = {environment.id: environment}
    return Results([folder], suite, environments, records, folder.peaks(), warnings)


def merge(runs: Sequence[Results], mix_environments: bool = False) -> Results:
    """Several runs of one task as one.

    Of a cell that was measured more than once in an environment, the last record stands; one that
    was measured in several has a record for each.

    Raises:
        UserError: runs of different tasks, or of different environments and not told to mix them.
    """
    first = runs[0]
    records: dict[tuple[str, str], Record] = {}
    environments = dict(first.environments)
    warnings: list[str] = []
    for run in runs:
        if run.suite.task != first.suite.task:
            raise UserError(
                f"{run.folder.path}: is of task '{run.suite.task}', {first.folder.path} of "
                f"'{first.suite.task}'; one table shows one task"
            )
        differences = first.environment.differences(run.environment)
        if differences and not mix_environments:
            raise UserError(
                f"{run.folder.path}: was measured in another environment than "
                f"{first.folder.path} (there, here):\n  "
                + "\n  ".join(differences)
                + "\nso their times do not compare; show them together with --mix-environments"
            )
        environments |= run.environments
        mine = {(record.id, record.environment): record for record in run.records}
        twice = [str(record.cell) for key, record in mine.items() if key in records]
        warnings += run.warnings
        warnings += [
            f"{cell}: is in several runs; that of {run.folder.path} stands" for cell in twice
        ]
        records |= mine
    peaks = next((run.peaks for run in runs if run.peaks), [])
    return replace(
        first,
        folders=[folder for run in runs for folder in run.folders],
        records=list(records.values()),
        environments=environments,
        peaks=peaks if len(environments) == 1 else [],  # they bound what was measured there
        warnings=warnings,
    )


def by_suite(runs: Sequence[Results], mix_environments: bool = False) -> list[Results]:
    """One for each suite, runs of the same suite merged."""
    alike: dict[tuple[str, str], list[Results]] = {}
    for run in runs:
        alike.setdefault((run.suite.name, run.suite.task), []).append(run)
    return [merge(group, mix_environments) for group in alike.values()]


def several_machines(runs: Sequence[Results]) -> list[str]:
    """A warning that names the machines of each suite, where not all were measured on one."""
    machines = {
        run.suite.name: dict.fromkeys(facts.machine for facts in run.environments.values())
        for run in runs
    }
    if len({machine for named in machines.values() for machine in named}) < 2:
        return []
    told = [f"{suite} on {' and '.join(named)}" for suite, named in machines.items()]
    return [f"measured on different machines, whose times do not compare: {'; '.join(told)}"]
