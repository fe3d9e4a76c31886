"""A shared library of operators with a plain C interface: opening it, and calling into it."""

from __future__ import annotations

import ctypes
import os
from typing import Any, ClassVar

import torch  # before any library: it brings the OpenMP runtime that they use
from torch import Tensor

ABI_VERSION = 1  # PAC_ABI_VERSION in csrc/pac.h

Argument = Tensor | ctypes.Structure | ctypes.Array[Any] | ctypes.c_void_p | int | None


class Library:
    """The library for CPUs in a file; OSError, with the reason, if it is not there or does not fit.

    Attributes:
        path: the file.
        suffixes: how the functions for arrays of a dtype end.
        has_mean_field_step: whether it has that operator.
    """

    suffixes: ClassVar[dict[torch.dtype, str]] = {torch.float32: "f32", torch.float64: "f64"}
    has_mean_field_step = False

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._handle = ctypes.CDLL(self.path)
        built = self._abi_version()
        if built != ABI_VERSION:
            raise OSError(
                f"{self.path} was built from other sources (its interface is number {built}, that "
                f"of this code {ABI_VERSION}): build it again, with `pip install .`"
            )

    def supports(self, isa: str) -> bool:
        """Whether this processor runs the library that is built for ``isa``."""
        return bool(self._handle.pac_supports(isa.encode()))

    def call(self, name: str, *arguments: Argument) -> None:
        """Runs operator ``name`` for the dtype of the first tensor; see :meth:`run`."""
        dtype = next(a.dtype for a in arguments if isinstance(a, Tensor))
        self.run(f"{name}_{self.suffixes[dtype]}", *arguments)

    def run(self, function: str, *arguments: Argument) -> None:
        """Calls ``function``; tensors are contiguous and go as bare pointers.

        Raises MemoryError if the function could not get its scratch memory.
        """
        if getattr(self._handle, function)(*map(_as_c, arguments)) != 0:
            raise self._failure(function)

    def _failure(self, function: str) -> Exception:
        """What a status other than 0 means."""
        return MemoryError(f"{function}: no memory for its scratch space")

    def _abi_version(self) -> int:
        try:
            return int(self._handle.pac_abi_version())
        except AttributeError:  # from before interfaces were counted
            return 0


def _as_c(argument: Argument) -> Any:
    """A tensor as the pointer to its first element, a struct by reference."""
    if argument is None or isinstance(argument, (ctypes.c_void_p, ctypes.Array)):
        return argument
    if isinstance(argument, Tensor):
        return ctypes.c_void_p(argument.data_ptr())
    if isinstance(argument, int):
        return ctypes.c_int64(argument)
    return ctypes.byref(argument)
