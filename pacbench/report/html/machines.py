"""Where and when runs were measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pacbench.environment import Environment
from pacbench.report.run import Results

CALLED = {
    "cpu": "CPU",
    "cpu_features": "CPU features",
    "ram_gb": "RAM, GB",
    "gpu": "GPU",
    "os": "OS",
    "dirty": "local changes",
}
"""What people call the facts of an environment, where it is not their name."""


def measured(runs: Sequence[Results]) -> str:
    """``measured from 2026-01-01 to 2026-01-02 on AMD EPYC, 2 cores``."""
    days = sorted(record.started[:10] for run in runs for record in run.records)
    when = days[0] if days[0] == days[-1] else f"from {days[0]} to {days[-1]}"
    return f"measured {when} on {' and '.join(suites_of_machines(runs))}"


def suites_of_machines(runs: Sequence[Results]) -> dict[str, list[str]]:
    """Which suites each machine measured, all or in part."""
    found: dict[str, dict[str, None]] = {}
    for run in runs:
        for environment in run.environments.values():
            found.setdefault(environment.machine, {})[run.suite.name] = None
    return {name: list(suites) for name, suites in found.items()}


def environments(runs: Sequence[Results]) -> list[dict[str, Any]]:
    """Each environment with the suites that were measured in it."""
    known = {key: value for run in runs for key, value in run.environments.items()}
    return [
        {
            "id": key,
            "machine": environment.machine,
            "suites": [run.suite.name for run in runs if key in run.environments],
            "facts": _facts(environment),
            "packages": list(environment.packages.items()),
        }
        for key, environment in known.items()
    ]


def _facts(environment: Environment) -> list[tuple[str, str]]:
    facts = environment.model_dump(exclude={"packages"})
    return [(CALLED.get(name, name), _plain(value)) for name, value in facts.items()]


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "not known" if value is None else str(value)
