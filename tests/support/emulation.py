"""The CUDA library built with g++: its kernels run on the CPU, see kernels/emulation."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from pacbench.kernels._cuda import CudaLibrary

KERNELS = Path(__file__).parents[2] / "kernels"
SOURCES = sorted(KERNELS.glob("csrc/*.cu"))
FLAGS = ["-std=gnu++17", "-fPIC", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"]
# Fewer blocks than there are tiles, so that blocks go through several of them.
FEW_BLOCKS = "-DPAC_MAX_BLOCKS=3"


class EmulatedLibrary(CudaLibrary):
    """The library with the emulation's own controls."""

    def seed(self, seed: int) -> None:
        """Draws the order of threads and blocks anew."""
        self._handle.pac_emulation_seed(ctypes.c_uint(seed))

    def skip_barrier(self, file: Path | None, line: int = 0) -> None:
        """Leaves out the barrier at a place in the sources; none, if there is no file."""
        place = "" if file is None else f"{file}:{line}"
        self._handle.pac_emulation_skip_barrier(place.encode())

    def fail_next_launch(self) -> None:
        """Makes the next launch fail as one of a wrong shape does."""
        self._handle.pac_emulation_fail_next_launch()


def build(
    folder: Path, sources: Iterable[Path] = SOURCES, flags: Iterable[str] = ("-O2", FEW_BLOCKS)
) -> Path:
    """Compiles and links the library in ``folder``, from ``sources`` in place of csrc's."""
    compiler = shutil.which("g++")
    if compiler is None:
        raise OSError("no g++ to compile the CUDA sources for emulation")
    options = [*FLAGS, *flags, f"-I{KERNELS / 'csrc'}", f"-I{KERNELS / 'emulation'}"]

    def compiled(source: Path) -> str:
        target = str(folder / f"{source.name}.o")
        command = [compiler, *options, "-x", "c++", "-c", str(source), "-o", target]
        subprocess.run(command, check=True)
        return target

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compiled, [*sources, KERNELS / "emulation" / "emulation.cpp"]))
    library = folder / "libpacbench_cuda_emulated.so"
    subprocess.run([compiler, "-shared", *flags, *objects, "-o", str(library)], check=True)
    return library


@cache
def emulated_library() -> EmulatedLibrary:
    """The library, built once in a process; raises OSError where it cannot be."""
    with tempfile.TemporaryDirectory() as folder:
        return EmulatedLibrary(build(Path(folder)))
