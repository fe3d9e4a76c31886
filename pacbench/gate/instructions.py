"""Instructions of the native kernels, counted by callgrind: a second opinion that has no weather.

Only what runs within the kernels' C functions is counted, in one call of a benchmark on one thread,
so that neither Python nor the caller's luck is in it. Valgrind knows no AVX-512: the kernels see a
processor without it and take the best of the other instruction sets.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from pacbench.gate.installation import this_installation
from pacbench.gate.pairs import AGENT, Side, specs
from pacbench.gate.session import Instructions, Report, name_of
from pacbench.kernels._native import ENVIRONMENT_VARIABLE
from pacbench.process import Process, ProcessFailedError
from pacbench.suite.cells import Cell

KERNELS = "pac_"
"""With which the names of the kernels' C functions begin."""
START_LIMIT = 600.0
COUNT_LIMIT = 120.0

Counts = dict[str, int]
"""By benchmark; without those that a version does not have or that call no native kernel."""


class CannotCountError(Exception):
    """The reason why there are no counts, for people."""


def beside(report: Report, sides: tuple[Side, Side], cells: Sequence[Cell]) -> Report:
    """The report with counts of both sides, or with the reason why it has none."""
    return _with(report, lambda: tuple(count(sides, cells)))


def beside_reference(report: Report, kept: Counts, cells: Sequence[Cell]) -> Report:
    """The report with counts of this version beside those that were kept."""
    if not kept:
        reason = "not compared: the reference has none"
        return report.model_copy(update={"instructions": reason})
    return _with(report, lambda: (kept, *count([this_installation()], cells)))


def _with(report: Report, counted: Callable[[], tuple[Counts, ...]]) -> Report:
    start = time.monotonic()
    try:
        baseline, candidate = counted()
    except CannotCountError as reason:
        return report.model_copy(update={"instructions": f"not counted: {reason}"})
    how = (
        "of the native kernels in one call, against the baseline's, on one thread and without "
        f"AVX-512; counted by valgrind after the times, in {time.monotonic() - start:.0f} s"
    )
    findings = []
    for finding in report.findings:
        ours, theirs = candidate.get(finding.benchmark), baseline.get(finding.benchmark)
        both = Instructions(baseline=theirs, candidate=ours) if ours and theirs else None
        findings.append(finding.model_copy(update={"instructions": both}))
    return report.model_copy(update={"findings": findings, "instructions": how})


def count(sides: Sequence[Side], cells: Sequence[Cell]) -> list[Counts]:
    """Instructions of one call of every benchmark, of each side; all sides at once.

    Raises:
        CannotCountError: there is no valgrind, or it cannot run one of the sides.
    """
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise CannotCountError("valgrind is not installed")
    with ExitStack() as closing:
        scratch = Path(closing.enter_context(tempfile.TemporaryDirectory()))
        outputs = [scratch / str(number) for number in range(len(sides))]
        try:
            processes = [
                _start(valgrind, side, cells, output, closing)
                for side, output in zip(sides, outputs, strict=True)
            ]
            for process in processes:
                process.answer(START_LIMIT, f"did not start within {START_LIMIT:g} s")
            for index in range(len(cells)):
                for process in processes:
                    process.send({"count": index})
                for process in processes:
                    process.answer(COUNT_LIMIT, f"counted for longer than {COUNT_LIMIT:g} s")
        except ProcessFailedError as failure:
            raise CannotCountError(f"valgrind: {failure}") from None
        return [_read(output, cells) for output in outputs]


def _start(
    valgrind: str, side: Side, cells: Sequence[Cell], output: Path, closing: ExitStack
) -> Process:
    callgrind = [
        valgrind,
        "--tool=callgrind",
        "--instr-atstart=no",  # importing torch would take minutes
        "--collect-atstart=no",
        f"--callgrind-out-file={output}",
    ]
    process = Process([*callgrind, side.python, "-P", str(AGENT)], {ENVIRONMENT_VARIABLE: ""})
    closing.callback(process.close)
    process.send({"benchmarks": specs(cells), "kernels": KERNELS})
    return process


def _read(output: Path, cells: Sequence[Cell]) -> Counts:
    """From the files of a callgrind that wrote some for each benchmark, named by its position.

    The least of a benchmark's is taken: what ctypes does around a kernel is not quite the same
    every time.
    """
    counts: Counts = {}
    for path in output.parent.glob(f"{output.name}.*"):
        text = path.read_text(encoding="utf-8", errors="replace")
        position = re.search(r"^desc: Trigger: Client Request: (\d+)$", text, re.MULTILINE)
        total = re.search(r"^totals: (\d+)$", text, re.MULTILINE)
        if position and total and int(total[1]):
            name = name_of(cells[int(position[1])])
            counts[name] = min(int(total[1]), counts.get(name, int(total[1])))
    return counts
