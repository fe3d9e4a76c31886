"""The native code under the address and undefined-behaviour sanitizers, at awkward sizes."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sanitized import SANITIZE, run_awkward_sizes, why_not

CSRC = Path(__file__).parents[2] / "kernels" / "csrc"
SOURCES = [
    *CSRC.glob("conv*.cpp"),
    *CSRC.glob("pool*.cpp"),
    CSRC / "adapting_kernel.cpp",
    CSRC / "supports.cpp",
]
FLAGS = ["-std=gnu++17", "-O0", "-fPIC", "-fopenmp", "-fno-exceptions", "-fno-rtti"]


@pytest.mark.skipif(why_not() != "", reason=why_not())
def test_no_access_outside_arrays(tmp_path: Path) -> None:
    def compiled(source: Path) -> str:
        target = str(tmp_path / f"{source.stem}.o")
        subprocess.run(["g++", *FLAGS, *SANITIZE, "-c", str(source), "-o", target], check=True)
        return target

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compiled, SOURCES))
    library = tmp_path / "sanitized.so"
    subprocess.run(["g++", "-shared", *SANITIZE, *objects, "-o", str(library)], check=True)
    run = run_awkward_sizes("cpu", library)
    assert run.stdout == "clean\n", run.stderr
