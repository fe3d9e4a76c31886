"""Which implementation of the PAC operators runs: ``reference`` (plain torch) or ``native``."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Literal, cast, get_args

import torch
from torch import Tensor

from pacbench.errors import did_you_mean
from pacbench.kernels import _native, ops, reference

Backend = Literal["reference", "native", "auto"]
BACKENDS: tuple[str, ...] = get_args(Backend)
ENVIRONMENT_VARIABLE = "PACBENCH_BACKEND"


def _checked(name: str, said_by: str) -> Backend:
    if name not in BACKENDS:
        raise ValueError(
            f"{said_by} is '{name}'; allowed: {', '.join(BACKENDS)}{did_you_mean(name, BACKENDS)}"
        )
    return cast(Backend, name)


_process_backend: Backend = _checked(
    os.environ.get(ENVIRONMENT_VARIABLE, "auto"), f"environment variable {ENVIRONMENT_VARIABLE}"
)
_warned = False


def set_backend(name: str) -> None:
    """Sets what ``backend=None`` means in this process: 'reference', 'native' or 'auto'.

    The environment variable PACBENCH_BACKEND sets it at import.
    """
    global _process_backend
    _process_backend = _checked(name, "backend")


def get_backend() -> str:
    """What ``backend=None`` means in this process."""
    return _process_backend


def can_run(tensors: Iterable[Tensor | None], device: str = "cpu") -> tuple[bool, str]:
    """Whether the native operators take these tensors, and if not, why (an empty string if so).

    All are on one device; where there are none, on ``device``.
    """
    given = [tensor for tensor in tensors if tensor is not None]
    device = given[0].device.type if given else device
    library, why_missing = _native.library_for(device)
    if library is None:
        return False, why_missing
    for tensor in given:
        if tensor.dtype not in library.suffixes:
            names = [str(dtype).removeprefix("torch.") for dtype in library.suffixes]
            return False, f"native computes in {', '.join(names)} on {device}; got {tensor.dtype}"
    return True, ""


def choose(
    backend: str | None, tensors: Iterable[Tensor | None], devices: Sequence[str] = _native.DEVICES
) -> ModuleType:
    """The module, ``ops`` or ``reference``, whose functions run for these (checked) tensors.

    Args:
        backend: 'reference', 'native' or 'auto'; None is the process's.
        tensors: all on one device.
        devices: for which there is a native implementation.

    Raises:
        ValueError: where ``native`` is demanded and cannot run. ``auto`` falls back to the
            reference, with one warning per process if that is because the library is missing.
    """
    name = _process_backend if backend is None else _checked(backend, "backend")
    if name == "reference":
        return reference
    given = [tensor for tensor in tensors if tensor is not None]
    device = given[0].device.type if given else "cpu"
    able, why_not = can_run(given)
    if device not in devices:
        able, why_not = False, f"native computes on {' and '.join(devices)}; got {device}"
    if able:
        return ops
    if name == "native":
        raise ValueError(f"backend is 'native', but {why_not}; use backend='auto' or 'reference'")
    if device in devices and _native.library_for(device)[0] is None:
        _warn_once(why_not)
    return reference


def _warn_once(why_not: str) -> None:
    global _warned
    if _warned or torch.compiler.is_compiling():
        return
    _warned = True
    warnings.warn(
        f"PAC runs in plain torch, which is several times slower: {why_not}",
        RuntimeWarning,
        stacklevel=5,
    )
