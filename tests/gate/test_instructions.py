"""Counting instructions with the real valgrind, and saying why where it cannot."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pacbench.gate import callgrind
from pacbench.gate.installation import this_installation
from pacbench.gate.instructions import (
    CannotCountError,
    beside,
    beside_reference,
    count,
)
from pacbench.gate.pairs import Side
from pacbench.gate.report import as_markdown
from pacbench.gate.session import Finding, Instructions, Report, name_of
from pacbench.session import plan
from pacbench.suite.cells import Cell

needs_valgrind = pytest.mark.skipif(
    shutil.which("valgrind") is None, reason="valgrind is not installed"
)
LIBRARY = """
extern "C" int pac_loop(int n) { volatile int sum = 0; while (n--) sum += n; return sum; }
extern "C" int other(int n) { return pac_loop(n); }
"""
PROGRAM = f"""
import ctypes, importlib.util, sys
spec = importlib.util.spec_from_file_location("callgrind", {str(callgrind.__file__)!r})
callgrind = importlib.util.module_from_spec(spec)
spec.loader.exec_module(callgrind)
counter = callgrind.Callgrind()
counter.watch("pac_")
library = ctypes.CDLL(sys.argv[1])
library.pac_loop(1), library.other(1)  # looked up and warm
for name, function, n in [
    ("once", library.pac_loop, 100_000),
    ("again", library.pac_loop, 100_000),
    ("more", library.pac_loop, 105_000),
    ("not watched", library.other, 100_000),
]:
    counter.start()
    function(n)
    counter.stop(name)
"""


@pytest.fixture(scope="module")
def cells() -> list[Cell]:
    """A benchmark, the same again, and with more work: taps of a 5×5 window for those of 3×3."""
    (cell,) = plan("gate", only={"method": "pac_pool2d"}).cells
    small, large = ({**cell.params, "kernel_size": size} for size in (3, 5))
    return [
        cell.model_copy(update={"label": label, "params": params})
        for label, params in (("once", small), ("again", small), ("more", large))
    ]


@needs_valgrind
def test_functions_called_by_ctypes_are_counted(tmp_path: Path) -> None:
    source, library = tmp_path / "loop.cpp", tmp_path / "loop.so"
    source.write_text(LIBRARY)
    subprocess.run(["c++", "-shared", "-fPIC", "-O1", source, "-o", library], check=True)
    output = tmp_path / "counts"
    options = ["--instr-atstart=no", "--collect-atstart=no", f"--callgrind-out-file={output}"]
    command = ["valgrind", "--tool=callgrind", *options, sys.executable, "-c", PROGRAM, library]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    counts = {}
    for path in tmp_path.glob("counts.*"):
        text = path.read_text()
        name = re.findall(r"^desc: Trigger: Client Request: (.+)$", text, re.MULTILINE)[0]
        counts[name] = int(re.findall(r"^totals: (\d+)$", text, re.MULTILINE)[0])
    assert counts["again"] == pytest.approx(counts["once"], rel=1e-3)
    assert counts["more"] == pytest.approx(1.05 * counts["once"], rel=5e-3)
    assert counts["not watched"] == 0


def test_without_valgrind_there_is_nothing_to_order() -> None:
    with pytest.raises(OSError, match=r"not run by valgrind|not known for"):
        callgrind.Callgrind()


@needs_valgrind
@pytest.mark.timeout(900)  # importing torch under valgrind takes half a minute of a core to itself
def test_the_kernels_of_benchmarks_are_counted(cells: list[Cell]) -> None:
    (counts,) = count([this_installation()], cells)
    once, again, more = (counts[name_of(cell)] for cell in cells)
    assert once > 100_000
    # Some hundred instructions come and go by where memory lies: 0.1 % of benchmarks this small.
    assert again == pytest.approx(once, rel=1e-3, abs=3000)
    assert more > 1.5 * once


def report_of(*names: str) -> Report:
    return Report(
        baseline="main",
        candidate="this version",
        max_slowdown=0.01,
        confidence=0.99,
        seconds=100,
        findings=[
            Finding(benchmark=name, verdict="same", ratio=1, low=1, high=1) for name in names
        ],
    )


def test_no_valgrind_is_said(cells: list[Cell], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    side = this_installation()
    report = beside(report_of("once"), (side, side), cells)
    assert report.instructions == "not counted: valgrind is not installed"
    assert report.findings[0].instructions is None
    assert report.exit_code == 0
    assert "- instructions: not counted: valgrind is not installed" in as_markdown(report)


@needs_valgrind
def test_a_side_that_valgrind_cannot_run_is_said(cells: list[Cell]) -> None:
    with pytest.raises(CannotCountError, match="valgrind: the process ended with exit code"):
        count([Side("broken", "/no/such/python")], cells)


def test_a_reference_without_counts_is_said(cells: list[Cell]) -> None:
    report = beside_reference(report_of("once"), {}, cells)
    assert report.instructions == "not compared: the reference has none"


def test_they_stand_beside_the_times() -> None:
    report = report_of("once", "new")
    counted = Instructions(baseline=1_000_000, candidate=1_012_300)
    findings = [report.findings[0].model_copy(update={"instructions": counted}), report.findings[1]]
    report = report.model_copy(update={"findings": findings, "instructions": "by valgrind"})
    text = as_markdown(report)
    assert "| 1,012,300 (+1.23 %) |" in text
    assert "- instructions: by valgrind" in text
    assert Report.model_validate_json(report.model_dump_json()) == report
