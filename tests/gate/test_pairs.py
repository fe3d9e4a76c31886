"""Real process pairs: both sides measured by the same code, whatever version they hold."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from pacbench.errors import UserError
from pacbench.gate.decide import Rule
from pacbench.gate.installation import resolve, this_installation
from pacbench.gate.pairs import Pairing, Side
from pacbench.gate.session import name_of, run
from pacbench.process import Process, ProcessFailedError
from pacbench.session import plan
from pacbench.suite.cells import Cell

METADATA = "Metadata-Version: 2.1\nName: pacbench\nVersion: 9.9\n"


@pytest.fixture(scope="module")
def cells() -> list[Cell]:
    return plan("gate", only={"method": "pac_*l2d"}).cells


@pytest.fixture
def other_version(tmp_path: Path) -> Path:
    """A wheel of another pacbench, which has a registry of methods and nothing in it."""
    path = tmp_path / "pacbench-9.9-py3-none-any.whl"
    files = {
        "pacbench/__init__.py": "",
        "pacbench/method.py": "import torch\nmethods = {}\nContext = None\n",
        "pacbench/data/__init__.py": "",
        "pacbench/data/base.py": "datasets = {}\n",
        "pacbench-9.9.dist-info/METADATA": METADATA,
        "pacbench-9.9.dist-info/WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
        wheel.writestr("pacbench-9.9.dist-info/RECORD", "".join(f"{name},,\n" for name in files))
    return path


def test_the_gate_suite_has_six_benchmarks_of_their_own_names() -> None:
    names = [name_of(cell) for cell in plan("gate").cells]
    assert len(set(names)) == 6


def test_a_pair_is_timed_in_rounds(cells: list[Cell]) -> None:
    side = this_installation()
    pairing = Pairing((side, side), cells, rounds=4)
    timed = pairing.run([0], slowdowns=(0.5,))
    assert [[len(times) for times in slowed] for slowed in timed[0]] == [[4, 4], [4, 4]]
    assert all(s > 0 for slowed in timed[0] for times in slowed for s in times)
    assert pairing.calls[0] >= 1
    assert 0 < pairing.prices[0] < 1
    assert pairing.extra_seconds > 0
    assert [len(times) for times in pairing.run([0])[0][0]] == [4, 4]
    assert pairing.extra_seconds < 0.1  # nothing of the pair before


def test_a_version_without_the_benchmark_is_not_compared(
    cells: list[Cell], other_version: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    baseline = resolve(str(other_version))
    assert baseline.name == other_version.name
    assert resolve(str(other_version)) == baseline  # installed once
    report = run((baseline, this_installation()), cells, Rule(), budget=60, say=print)
    assert [finding.verdict for finding in report.findings] == ["not compared"]
    assert "it has no method 'pac_pool2d'" in report.findings[0].note
    assert report.exit_code == 0


def test_too_little_time_is_undecided(cells: list[Cell]) -> None:
    side = this_installation()
    report = run((side, side), cells, Rule(), budget=0.5, say=print)
    assert report.exit_code == 3
    assert report.findings[0].note.startswith("1 pairs in the time given")


def test_an_environment_is_taken_as_it_is() -> None:
    prefix = Path(sys.executable).parents[1]
    assert resolve(str(prefix)) == Side(str(prefix), str(prefix / "bin" / "python"))


def test_what_is_no_baseline_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parent)
    with pytest.raises(UserError, match="no-such-thing: is no wheel, run, folder or revision of"):
        resolve("no-such-thing")
    broken = tmp_path / "broken.whl"
    broken.write_text("not a wheel")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(UserError, match=r"broken\.whl: cannot be installed"):
        resolve(str(broken))


def test_a_side_that_cannot_start_says_why(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("raise SystemExit('no torch here')")
    process = Process([sys.executable, str(script)], {})
    try:
        with pytest.raises(ProcessFailedError, match="exit code 1") as failed:
            process.ask({}, 30, "too late")
        assert failed.value.tail == "no torch here"
    finally:
        process.close()
