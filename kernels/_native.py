"""The compiled operators: finds the library for this processor, loads it and calls into it.

The library has a plain C interface (csrc/pac.h). It is built once per instruction set; the best one
that the processor runs is loaded, or the one that the environment variable PACBENCH_ISA names.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from importlib.resources import files

import torch  # before the library: it brings the OpenMP runtime that the library uses
from torch import Tensor

from pacbench.errors import did_you_mean
from pacbench.kernels.arguments import Window

ISAS = ("avx512", "avx2", "baseline")  # best first
ENVIRONMENT_VARIABLE = "PACBENCH_ISA"

_SUFFIX = {torch.float32: "f32", torch.float64: "f64"}


class PacAxis(ctypes.Structure):
    """One image axis: input · up = output · down + tap · dilation - pad."""

    _fields_ = [
        (name, ctypes.c_int64)
        for name in ("input", "output", "taps", "up", "down", "dilation", "pad")
    ]


class PacShape(ctypes.Structure):
    _fields_ = [
        *(
            (name, ctypes.c_int64)
            for name in (
                "batch",
                "in_channels",
                "out_channels",
                "kernel_channels",
                "weight_out_stride",
                "weight_in_stride",
                "n_threads",
            )
        ),
        ("y", PacAxis),
        ("x", PacAxis),
    ]


class PacGuide(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("guide", "centre", "inv_alpha", "inv_lambda")),
        *((name, ctypes.c_int64) for name in ("channels", "inv", "asym")),
        ("y", PacAxis),
        ("x", PacAxis),
    ]


def axes(window: Window, input_size: Sequence[int]) -> tuple[PacAxis, PacAxis]:
    """The two axes (vertical, horizontal) of an operator with these taps on such an input."""
    y, x = (
        PacAxis(n, out, k, s, 1, d, d * (k - 1) - p)
        if window.transposed
        else PacAxis(n, out, k, 1, s, d, p)
        for n, out, k, s, p, d in zip(
            input_size, window.output_size(input_size), *window[:4], strict=True
        )
    )
    return y, x


def _open(isa: str) -> ctypes.CDLL:
    path = files("pacbench.kernels") / f"libpacbench_kernels_{isa}.so"
    if not path.is_file():
        raise OSError(f"the native library for '{isa}' is not built: no {path}")
    return ctypes.CDLL(str(path))


def available_isas() -> list[str]:
    """The instruction sets that are built and that this processor has, best first."""
    try:
        supports = _open("baseline").pac_supports
        return [isa for isa in ISAS if supports(isa.encode()) and _open(isa)]
    except OSError:
        return []


def load(isa: str | None = None) -> ctypes.CDLL:
    """Opens the library for ``isa``, or for the best instruction set of this processor.

    Raises OSError, with the reason, if it cannot be had, and ValueError for an unknown name.
    """
    if isa is not None and isa not in ISAS:
        raise ValueError(
            f"instruction set is '{isa}'; allowed: {', '.join(ISAS)}{did_you_mean(isa, ISAS)}"
        )
    supports = _open("baseline").pac_supports
    if isa is None:
        isa = next(name for name in ISAS if supports(name.encode()))
    elif not supports(isa.encode()):
        raise OSError(f"this processor does not run the native library for '{isa}'")
    return _open(isa)


def _loaded() -> tuple[ctypes.CDLL | None, str]:
    try:
        return load(os.environ.get(ENVIRONMENT_VARIABLE) or None), ""
    except OSError as reason:
        return None, str(reason)


library, why_missing = _loaded()


def call(name: str, *arguments: Tensor | ctypes.Structure | None) -> None:
    """Runs operator ``name``; tensors are contiguous, of one dtype, and go as bare pointers.

    Raises MemoryError if the operator could not get its scratch memory.
    """
    dtype = next(a.dtype for a in arguments if isinstance(a, Tensor))
    function = getattr(library, f"{name}_{_SUFFIX[dtype]}")
    status = function(
        *(
            ctypes.c_void_p(a.data_ptr())
            if isinstance(a, Tensor)
            else None
            if a is None
            else ctypes.byref(a)
            for a in arguments
        )
    )
    if status != 0:
        raise MemoryError(f"{name}: no memory for its scratch space")
