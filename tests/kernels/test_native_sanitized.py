"""The native code under the address and undefined-behaviour sanitizers, at awkward sizes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

CSRC = Path(__file__).parents[2] / "kernels" / "csrc"
SOURCES = [*CSRC.glob("conv*.cpp"), *CSRC.glob("pool*.cpp"), CSRC / "adapting_kernel.cpp"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
FLAGS = ["-std=gnu++17", "-O0", "-fPIC", "-fopenmp", "-fno-exceptions", "-fno-rtti"]

PROGRAM = """
import ctypes, itertools, sys
import torch
from pacbench import kernels
from pacbench.kernels import _native
from pacbench.kernels.arguments import Window

_native.library = ctypes.CDLL(sys.argv[1])
kernels.set_backend("native")
torch.set_num_threads(2)
shapes = [(1, 1, 1, 1, 1), (2, 3, 9, 5, 59), (1, 5, 2, 1, 97), (1, 131, 2, 1, 49)]
windows = [
    ((3, 3), 1, 1, 1),
    ((5, 3), (2, 3), (2, 1), 1),
    ((3, 5), 1, (64, 128), 64),
    ((5, 1), 1, (34, 3), (16, 17)),
]
for dtype, (b, c, o, h, w), (k, *taps) in itertools.product(
    (torch.float32, torch.float64), shapes, windows
):
    def random(*shape):
        return torch.randn(shape, dtype=dtype, requires_grad=True)

    image, guide, weight, bias = random(b, c, h, w), random(b, 2, h, w), random(o, c, *k), random(o)
    kernel = kernels.adapting_kernel(image, k, *taps, channel_wise=True)
    outputs = [
        kernels.pac_conv2d(image, guide, weight, bias, *taps),
        kernels.pac_conv2d(image, guide, random(1, 1, *k), None, *taps),
        kernels.pacconv2d(image, kernel, weight, bias, *taps),
        kernels.pac_pool2d(image, image, k, *taps, channel_wise=True),
    ]
    stride, padding, dilation = taps
    try:
        size = Window.of(k, *taps, transposed=True).output_size((h, w))
    except ValueError:  # the padding leaves no output
        size = None
    if size:
        arguments = (stride, padding, 0, dilation)
        large = random(b, 2, *size)
        for filters in (random(c, o, *k), random(1, 1, *k)):
            outputs.append(kernels.pac_conv_transpose2d(image, large, filters, None, *arguments))
    torch.autograd.backward([output.sum() for output in outputs])
print("clean")
"""


def test_no_access_outside_arrays(tmp_path: Path) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++ to compile the sources with sanitizers")
    runtimes = [
        subprocess.run(
            [compiler, f"-print-file-name={name}.so"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ("libasan", "libubsan")
    ]
    if not all(Path(runtime).is_absolute() for runtime in runtimes):
        pytest.skip("g++ has no sanitizer libraries")

    def compiled(source: Path) -> str:
        target = str(tmp_path / f"{source.stem}.o")
        subprocess.run([compiler, *FLAGS, *SANITIZE, "-c", str(source), "-o", target], check=True)
        return target

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compiled, SOURCES))
    library = str(tmp_path / "sanitized.so")
    subprocess.run([compiler, "-shared", *SANITIZE, *objects, "-o", library], check=True)

    environment = {"LD_PRELOAD": " ".join(runtimes), "ASAN_OPTIONS": "detect_leaks=0"}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, library],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout == "clean\n", run.stderr
