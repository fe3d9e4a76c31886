"""What nvcc makes of the kernels: no spills, and no more of an SM than their files say.

Each file that has kernels opens with a table of the threads of a block, registers of a thread,
bytes of static and dynamic shared memory, and how many blocks share an SM.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from emulation import SOURCES

ARCHITECTURES = (75, 80, 90, 120)
# Of an SM of each: bytes of shared memory and threads; 65536 registers, 48 KiB for a block.
SHARED_BYTES = {75: 64 << 10, 80: 164 << 10, 90: 228 << 10, 120: 100 << 10}
THREADS = {75: 1024, 80: 2048, 90: 2048, 120: 1536}
REGISTERS, BLOCK_SHARED_BYTES = 65536, 48 << 10
DTYPES = 3
WITHOUT_KERNELS = ("library.cu",)


class Claim(NamedTuple):
    """A row of a file's table."""

    threads: int
    registers: int
    static: int
    dynamic: int
    blocks: int


class Compiled(NamedTuple):
    """One kernel, for one dtype and architecture."""

    kernel: str
    architecture: int
    registers: int
    shared: int
    stack: int
    spills: int


KERNEL_FILES = [source for source in SOURCES if source.name not in WITHOUT_KERNELS]
of_each_file = pytest.mark.parametrize("source", KERNEL_FILES, ids=lambda path: path.name)


def claims(source: Path) -> dict[str, Claim]:
    rows = re.findall(
        r"^//     (\w+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)$", source.read_text(), re.M
    )
    return {name: Claim(*map(int, numbers)) for name, *numbers in rows}


@cache
def known_architectures(nvcc: str) -> tuple[int, ...]:
    """Those of ARCHITECTURES that this nvcc compiles for: an older one lacks the latest."""
    listed = subprocess.run([nvcc, "--list-gpu-arch"], capture_output=True, text=True, check=True)
    known = {int(number) for number in re.findall(r"compute_(\d+)", listed.stdout)}
    return tuple(number for number in ARCHITECTURES if number in known)


def compile_cubins(nvcc: str, source: Path) -> list[Compiled]:
    """All kernels of a file, for all architectures, by what ptxas says of them."""
    options = ["-std=c++17", "-O3", "-Xptxas", "-v", "-fatbin", "-o", "/dev/null", "--threads", "2"]
    for number in known_architectures(nvcc):
        options += ["-gencode", f"arch=compute_{number},code=sm_{number}"]
    run = subprocess.run([nvcc, *options, str(source)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    pattern = (
        r"Compiling entry function '(\w+)' for 'sm_(\d+)'.*?"
        r"(\d+) bytes stack frame, (\d+) bytes spill stores.*?Used (\d+) registers([^\n]*)"
    )
    found = []
    for name, architecture, stack, spills, registers, rest in re.findall(pattern, run.stderr, re.S):
        # Mangled: the length of a name goes before it.
        kernel = max((n for n in claims(source) if f"{len(n)}{n}" in name), key=len, default=name)
        static = re.search(r"(\d+) bytes smem", rest)
        shared = int(static[1]) if static else 0
        found.append(
            Compiled(kernel, int(architecture), int(registers), shared, int(stack), int(spills))
        )
    return found


@of_each_file
def test_claims_fit_an_sm(source: Path) -> None:
    """As many blocks as the table says, on every architecture."""
    assert claims(source)
    for claim in claims(source).values():
        shared = claim.static + claim.dynamic
        assert shared <= BLOCK_SHARED_BYTES
        assert claim.blocks * claim.threads * claim.registers <= REGISTERS
        for number in ARCHITECTURES:
            kept = 0 if number < 80 else 1024  # by the system, for each block
            assert claim.blocks * (shared + kept) <= SHARED_BYTES[number]
            assert claim.blocks * claim.threads <= THREADS[number]


@pytest.mark.timeout(900)  # on a busy machine; half a minute on one that is not
@of_each_file
def test_kernels_keep_to_their_claims(source: Path) -> None:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc to compile the CUDA kernels with")
    architectures = known_architectures(nvcc)
    assert architectures
    kernels = compile_cubins(nvcc, source)
    names = claims(source)
    assert {(k.kernel, k.architecture) for k in kernels} == {
        (name, number) for name in names for number in architectures
    }
    assert len(kernels) % (DTYPES * len(architectures)) == 0
    for kernel in kernels:
        claim = names[kernel.kernel]
        assert kernel.stack == kernel.spills == 0, kernel
        assert kernel.registers <= claim.registers, kernel
        assert kernel.shared <= claim.static, kernel
