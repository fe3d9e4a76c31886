"""What each kernel file says of itself at its top: all of it there, the roofline times right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from emulation import KERNELS, SOURCES

KERNEL_FILES = [source for source in SOURCES if "__global__" in source.read_text()]
GPUS = ("V100", "A100", "H100", "RTX 4090")


def header(path: Path) -> str:
    """The comment that opens a file, on one line."""
    opening = re.match(r"(?://.*\n)+", path.read_text())
    assert opening is not None
    return " ".join(opening[0].replace("//", " ").split())


def data_sheet(gpu: str) -> tuple[float, float]:
    """FLOP/s and bytes/s, as cuda.cuh lists them."""
    row = rf"{gpu}[^/]*? +([\d.]+) +TFLOP/s, ([\d.]+) TB/s"
    found = re.search(row, header(KERNELS / "csrc" / "cuda.cuh"))
    assert found is not None
    return float(found[1]) * 1e12, float(found[2]) * 1e12


@pytest.mark.parametrize("source", KERNEL_FILES, ids=lambda path: path.name)
def test_header(source: Path) -> None:
    text = header(source)
    for part in (" = ", "Grid: ", "Resources, ", "Roofline, ", "paper"):
        assert part in text
    work = re.search(
        r"([\d.]+) (G|M)FLOP and at least (\d+) MB of memory traffic, (\d+) FLOP per byte, "
        r"bound by (arithmetic|memory)\.",
        text,
    )
    assert work is not None
    flop = float(work[1]) * {"G": 1e9, "M": 1e6}[work[2]]
    traffic = float(work[3]) * 1e6
    assert int(work[4]) == pytest.approx(flop / traffic, rel=0.02, abs=0.5)
    for gpu in GPUS:
        peak, bandwidth = data_sheet(gpu)
        said = re.search(rf"{gpu} (\d\.\d+)\b", text)
        assert said is not None, gpu
        milliseconds = 1e3 * max(flop / peak, traffic / bandwidth)
        assert float(said[1]) == pytest.approx(milliseconds, rel=0.02, abs=0.0005), gpu
        assert (flop / peak > traffic / bandwidth) == (work[5] == "arithmetic"), gpu
