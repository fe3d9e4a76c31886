"""What works on this machine, what does not, and how to get it."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

import numpy as np

from pacbench import environment
from pacbench.device import cuda_device


@dataclass(frozen=True)
class Check:
    """One finding; ``advice`` says what to do where the status is not ``ok``."""

    name: str
    status: Literal["ok", "warn", "missing"]
    finding: str
    advice: str = ""


def diagnose() -> list[Check]:
    """All checks, in the order that a user would put things right."""
    checks: list[Callable[[], Check]] = [
        _compiler,
        _cpu,
        _threads,
        _torch,
        _native_library,
        _pydensecrf,
        _gpu,
        _nvcc,
        _cuda_library,
        _clock,
    ]
    return [check() for check in checks]


def _compiler() -> Check:
    for name in ("c++", "g++", "clang++"):
        if path := shutil.which(os.environ.get("CXX", name)):
            return Check("C++ compiler", "ok", path)
    return Check(
        "C++ compiler",
        "missing",
        "none of c++, g++, clang++ is on the PATH",
        "only needed to build from source: apt-get install g++",
    )


def _cpu() -> Check:
    features = environment.cpu_features()
    finding = f"{environment.cpu_model()}: {' '.join(features) or 'no vector extensions'}"
    if {"avx2", "fma"} <= set(features):
        return Check("CPU", "ok", finding)
    return Check("CPU", "warn", finding, "native kernels use their slower baseline without AVX2")


def _threads() -> Check:
    cores = environment.usable_cores()
    load = os.getloadavg()[0]
    finding = f"{cores} usable cores, load {load:.2f}"
    if load > 0.5 * cores:
        return Check("threads", "warn", finding, "other work disturbs timings; let it finish first")
    return Check("threads", "ok", finding)


def _torch() -> Check:
    import torch

    return Check("torch", "ok", f"{torch.__version__}, {torch.get_num_threads()} threads")


def _native_library() -> Check:
    from pacbench.kernels import can_run

    able, why_not = can_run(())
    if able:
        return Check("native kernels", "ok", "the library loads")
    return Check(
        "native kernels",
        "missing",
        why_not,
        "reinstall with a C++ compiler present; PAC runs in plain torch until then",
    )


def _pydensecrf() -> Check:
    try:
        from pydensecrf import densecrf  # noqa: F401

        return Check("pydensecrf", "ok", f"pydensecrf2 {version('pydensecrf2')}")
    except (ImportError, PackageNotFoundError) as error:
        return Check("pydensecrf", "missing", str(error), "pip install pydensecrf2")


def _gpu() -> Check:
    import torch

    gpus = environment.gpus()
    if torch.cuda.is_available():
        return Check("GPU", "ok", "; ".join(gpus) or torch.cuda.get_device_name())
    if gpus:
        return Check(
            "GPU",
            "warn",
            f"{'; '.join(gpus)}, but torch {torch.__version__} cannot use it",
            "install a torch build for CUDA that fits the driver",
        )
    return Check("GPU", "missing", "no NVIDIA GPU found", "suites run on the CPU")


def _nvcc() -> Check:
    """Where the build looks for it, too: see kernels/csrc/cuda.cmake."""
    toolkits = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    folders = [f"{toolkit}/bin" for toolkit in toolkits if toolkit]
    path = shutil.which(os.environ.get("CUDACXX", "nvcc")) or shutil.which(
        "nvcc", path=os.pathsep.join(folders)
    )
    if path:
        return Check("nvcc", "ok", path)
    return Check(
        "nvcc",
        "missing",
        "not on the PATH, in CUDA_HOME or /usr/local/cuda",
        "only needed to build CUDA kernels",
    )


def _cuda_library() -> Check:
    from pacbench.kernels import _cuda

    try:
        library = _cuda.load()
    except OSError as error:
        return Check(
            "CUDA kernels",
            "missing",
            str(error),
            "only needed on a GPU; suites on --device cuda run PAC in plain torch until then",
        )
    built = f"built for compute capability {library.built_for()}"
    device, why_not = cuda_device()
    if device is None:
        return Check("CUDA kernels", "ok", f"{built}; {why_not}")
    if not library.runs_on(device):
        architecture = f"{device[0]}{device[1]}"
        return Check(
            "CUDA kernels",
            "warn",
            f"{built}, not for {device[0]}.{device[1]}, which this GPU has",
            f"PACBENCH_CUDA=ON PACBENCH_CUDA_ARCHITECTURES={architecture} pip install .",
        )
    if trouble := _launch():
        advice = "does the driver fit the CUDA version of nvcc (`nvidia-smi`, `nvcc --version`)?"
        return Check("CUDA kernels", "warn", f"{built}, but {trouble}", advice)
    return Check("CUDA kernels", "ok", f"{built}; they run on this GPU")


def _launch() -> str:
    """Why an operator fails on the GPU; empty if it does not."""
    import torch

    from pacbench import kernels

    try:
        ones = torch.ones(1, 1, 3, 3, device="cuda")
        kernels.adapting_kernel(ones, 3, padding=1, backend="native")
        torch.cuda.synchronize()
    except (RuntimeError, ValueError) as error:
        return str(error)
    return ""


def _clock() -> Check:
    """Time the same small piece of work over and over: timings here will have that spread."""
    work = np.ones(200_000)
    seconds = []
    deadline = time.perf_counter() + 0.6
    while time.perf_counter() < deadline:
        start = time.perf_counter()
        work.sum()
        seconds.append(time.perf_counter() - start)
    low, median, high = np.percentile(seconds, [5, 50, 95])
    spread = (high - low) / median
    resolution = time.get_clock_info("perf_counter").resolution
    finding = f"fixed work varies by {spread:.0%} (5th to 95th percentile), tick {resolution:.0e} s"
    if spread > 0.2:
        return Check("clock", "warn", finding, "compare ratios within one run, not absolute times")
    return Check("clock", "ok", finding)
