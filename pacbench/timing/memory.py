"""How much memory a call needs beyond its inputs."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

RESET_PEAK = "5"


def peak_beyond_inputs(run: Callable[[], Any], device: str) -> tuple[Any, int | None]:
    """What ``run`` returns, and by how many bytes memory rose above where it stood before.

    On the CPU that is resident memory, after a first call has loaded what it loads and the
    allocator has given back what that freed; on CUDA, the caching allocator's peak. None where the
    machine does not tell.
    """
    run()
    if device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        output = run()
        torch.cuda.synchronize()
        return output, torch.cuda.max_memory_allocated() - before
    _give_back()
    exact = _reset_peak()
    held, peak_before = _status("VmRSS"), _maximum()
    output = run()
    if held is None:
        return output, None
    peak = _status("VmHWM") if exact else _maximum()
    if peak is None or (not exact and peak == peak_before):
        return output, None  # the call stayed below what the process once held
    return output, max(0, peak - held)


def _give_back() -> None:
    """Return freed memory to the kernel: reused, it would not show as a rise."""
    gc.collect()
    with contextlib.suppress(AttributeError):  # another C library than GNU's
        ctypes.CDLL(None).malloc_trim(0)


def _reset_peak() -> bool:
    """Bring the kernel's high-water mark down to what is held; False where that is not allowed."""
    try:
        Path("/proc/self/clear_refs").write_text(RESET_PEAK, encoding="ascii")
    except OSError:
        return False
    return True


def _status(key: str) -> int | None:
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(key)), None)


def _maximum() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
