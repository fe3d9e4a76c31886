"""The compiled operators: finds the library for a device, and calls into it.

The libraries have a plain C interface (csrc/pac.h, csrc/pac_cuda.h). The one for CPUs is built once
per instruction set; the best one that the processor runs is loaded, or the one that the environment
variable PACBENCH_ISA names. The one for CUDA is optional (:mod:`._cuda`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import torch
from torch import Tensor
from torch._library.custom_ops import CustomOpDef

from pacbench.errors import did_you_mean
from pacbench.kernels import _cuda
from pacbench.kernels._library import Argument, Library

DEVICES = ("cpu", "cuda")
ISAS = ("avx512", "avx2", "baseline")  # best first
ENVIRONMENT_VARIABLE = "PACBENCH_ISA"


def _open(isa: str) -> Library:
    path = files("pacbench.kernels") / f"libpacbench_kernels_{isa}.so"
    if not path.is_file():
        raise OSError(f"the native library for '{isa}' is not built: no {path}")
    return Library(str(path))


def available_isas() -> list[str]:
    """The instruction sets that are built and that this processor has, best first."""
    try:
        baseline = _open("baseline")
        return [isa for isa in ISAS if baseline.supports(isa) and _open(isa)]
    except OSError:
        return []


def load(isa: str | None = None) -> Library:
    """Opens the library for ``isa``, or for the best instruction set of this processor.

    Raises OSError, with the reason, if it cannot be had, and ValueError for an unknown name.
    """
    if isa is not None and isa not in ISAS:
        raise ValueError(
            f"instruction set is '{isa}'; allowed: {', '.join(ISAS)}{did_you_mean(isa, ISAS)}"
        )
    baseline = _open("baseline")
    if isa is None:
        isa = next(name for name in ISAS if baseline.supports(name))
    elif not baseline.supports(isa):
        raise OSError(f"this processor does not run the native library for '{isa}'")
    return _open(isa)


def _loaded() -> tuple[Library | None, str]:
    try:
        return load(os.environ.get(ENVIRONMENT_VARIABLE) or None), ""
    except OSError as reason:
        return None, str(reason)


library, why_missing = _loaded()


def library_for(device: str) -> tuple[Library | None, str]:
    """The library that computes on such a device ('cpu', 'cuda'), or None and why there is none."""
    if device == "cpu":
        return library, why_missing
    if device == "cuda":
        return _cuda.library, _cuda.why_missing
    return None, f"native computes on {' and '.join(DEVICES)}; got a tensor on {device}"


def operator(name: str) -> Callable[[Callable[..., Any]], CustomOpDef]:
    """Declares a function that writes to none of its arguments as operator ``pacbench::name``."""
    return torch.library.custom_op(f"pacbench::{name}", mutates_args=(), device_types=DEVICES)


def call(name: str, *arguments: Argument) -> None:
    """Runs operator ``name`` where its tensors are; see :meth:`Library.call`."""
    device = next(a.device for a in arguments if isinstance(a, Tensor))
    chosen, reason = library_for(device.type)
    if chosen is None:
        raise RuntimeError(f"{name}: {reason}")
    chosen.call(name, *arguments)
