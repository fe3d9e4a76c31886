"""Runs in the formats of other tools that watch benchmarks."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import numpy as np

from pacbench.record import Record
from pacbench.report.naming import name_of, varying_axes
from pacbench.report.run import Results
from pacbench.timing import Timing
from pacbench.timing.intervals import median

Files = dict[str, str]
"""Texts by path; the path is empty for a format that is one file."""


def _timed(run: Results) -> Iterator[tuple[str, Record, Timing]]:
    axes = varying_axes(run.records)
    for record in run.records:
        if record.timing is not None:
            name = f"{name_of(record, axes)} [{record.cell.backend}, {record.cell.device}]"
            yield name, record, record.timing


def pytest_benchmark(run: Results) -> Files:
    """What ``pytest-benchmark compare`` and its plugins read."""
    facts = run.environment
    first = min(record.started for record in run.records)
    content = {
        "machine_info": {
            "node": "",
            "processor": facts.cpu,
            "machine": facts.os,
            "python_version": facts.python,
            "system": facts.os.split("-")[0],
            "cpu": {"brand_raw": facts.cpu, "count": facts.cores},
        },
        "commit_info": {
            "id": facts.commit or "unknown",
            "dirty": bool(facts.dirty),
            "time": first,
            "branch": "",
            "project": "pacbench",
        },
        "benchmarks": [
            {
                "group": run.suite.name,
                "name": name,
                "fullname": f"{run.suite.name}::{name}",
                "params": record.cell.params,
                "param": record.id,
                "extra_info": {"unstable": timing.unstable, "metrics": record.metrics},
                "options": {"disable_gc": True, "timer": "perf_counter", "warmup": True},
                "stats": _pytest_statistics(timing),
            }
            for name, record, timing in _timed(run)
        ],
        "datetime": first,
        "version": "5.0.0",
    }
    return {"": json.dumps(content, indent=2) + "\n"}


def _pytest_statistics(timing: Timing) -> dict[str, Any]:
    data = [seconds for blocks in timing.samples for seconds in blocks]
    q1, median, q3 = (float(q) for q in np.percentile(data, [25, 50, 75]))
    mean, deviation = float(np.mean(data)), float(np.std(data, ddof=1)) if data[1:] else 0.0
    reach = 1.5 * (q3 - q1)
    inside = [seconds for seconds in data if q1 - reach <= seconds <= q3 + reach]
    mild = sum(abs(seconds - mean) > deviation for seconds in data)
    return {
        "min": min(data),
        "max": max(data),
        "mean": mean,
        "stddev": deviation,
        "rounds": len(data),
        "median": median,
        "iqr": q3 - q1,
        "q1": q1,
        "q3": q3,
        "iqr_outliers": len(data) - len(inside),
        "stddev_outliers": mild,
        "outliers": f"{mild};{len(data) - len(inside)}",
        "ld15iqr": min(inside),
        "hd15iqr": max(inside),
        "ops": 1 / mean,
        "total": math.fsum(data),
        "iterations": timing.calls[0] if timing.calls else 1,
        "data": data,
    }


def asv(run: Results) -> Files:
    """A results folder of airspeed velocity: machine, benchmarks and one result file."""
    facts = run.environment
    machine, commit = "pacbench", facts.commit or "0" * 40
    environment = f"existing-py{facts.python}"
    columns = [
        "result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b",
        "stats_q_25", "stats_q_75", "stats_number", "stats_repeat", "samples",
    ]  # fmt: skip
    results, benchmarks = {}, {}
    for name, record, timing in _timed(run):
        data = [seconds for blocks in timing.samples for seconds in blocks]
        started = int(1000 * datetime.fromisoformat(record.started).timestamp())
        bounds = median(timing.by_process(), confidence=0.99)[1:]
        low, high = (bound if math.isfinite(bounds[1]) else None for bound in bounds)
        q1, q3 = (float(q) for q in np.percentile(data, [25, 75]))
        calls = timing.calls[0] if timing.calls else 1
        results[name] = [
            [timing.median], [], "1", started, record.seconds.work, [low], [high], [q1], [q3],
            [calls], [len(data)], [data],
        ]  # fmt: skip
        benchmarks[name] = {
            "name": name,
            "code": record.command,
            "version": "1",
            "type": "time",
            "unit": "seconds",
            "params": [],
            "param_names": [],
            "timeout": record.cell.limits.seconds,
        }
    first = min(datetime.fromisoformat(record.started) for record in run.records)
    content = {
        "commit_hash": commit,
        "env_name": environment,
        "date": int(1000 * first.timestamp()),
        "params": {"machine": machine, "cpu": facts.cpu, "os": facts.os, "python": facts.python},
        "python": facts.python,
        "requirements": {},
        "env_vars": {},
        "result_columns": columns,
        "results": results,
        "durations": {},
        "version": 2,
    }
    facts_of_machine = {
        "arch": "", "cpu": facts.cpu, "machine": machine, "num_cpu": str(facts.cores),
        "os": facts.os, "ram": f"{facts.ram_gb:g} GB", "version": 1,
    }  # fmt: skip
    return {
        "benchmarks.json": json.dumps({**benchmarks, "version": 2}, indent=1),
        f"{machine}/machine.json": json.dumps(facts_of_machine, indent=1),
        f"{machine}/{commit[:8]}-{environment}.json": json.dumps(content, indent=1),
    }


def github_action_benchmark(run: Results) -> Files:
    """The action's ``customSmallerIsBetter``: medians, with the interval as range."""
    entries = []
    for name, record, timing in _timed(run):
        entries.append(
            {
                "name": name,
                "unit": "ms",
                "value": 1e3 * timing.median,
                "range": _range(timing),
                "extra": record.command
                + (f"\nunstable: {timing.unstable}" * bool(timing.unstable)),
            }
        )
    return {"": json.dumps(entries, indent=2) + "\n"}


def _range(timing: Timing) -> str:
    if timing.interval is None:
        return "not known"
    low, high = timing.interval
    return f"± {1e3 * (high - low) / 2:.3g}"


def comma_separated(run: Results) -> Files:
    """Every timed block, one a line."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["cell", "name", "sample", "process", "calls", "seconds"])
    for name, record, timing in _timed(run):
        for index, (blocks, numbers) in enumerate(
            zip(timing.samples, timing.processes, strict=True)
        ):
            calls = timing.calls[index] if timing.calls else 1
            for seconds, number in zip(blocks, numbers, strict=True):
                writer.writerow([record.id, name, index, number, calls, seconds])
    return {"": buffer.getvalue()}


FORMATS: dict[str, Callable[[Results], Files]] = {
    "pytest-benchmark": pytest_benchmark,
    "asv": asv,
    "github-action-benchmark": github_action_benchmark,
    "csv": comma_separated,
}
