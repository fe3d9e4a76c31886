"""The operators on CUDA devices: the library libpacbench_cuda.so (csrc/pac_cuda.h), if it is built.

Its functions are those for CPUs with a stream as one more argument. They launch on the device of
their tensors and on torch's current stream there, do not wait, and take what memory they need from
torch's allocator, so that they may be captured in CUDA graphs.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from importlib.resources import files
from typing import ClassVar

import torch
from torch import Tensor

from pacbench.kernels._library import Argument, Library
from pacbench.kernels._structs import PacShape

Capability = tuple[int, int]  # of a device: major, minor


class CudaLibrary(Library):
    """The library for CUDA devices in a file; built for emulation, it takes tensors on the CPU.

    Attributes:
        architectures: compute capabilities that it was built for.
    """

    suffixes: ClassVar[dict[torch.dtype, str]] = {
        torch.float32: "f32",
        torch.float16: "f16",
        torch.bfloat16: "bf16",
    }
    has_mean_field_step = True

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path)
        self._last_error = self._handle.pac_cuda_last_error
        self._last_error.restype = ctypes.c_char_p
        self._partials = self._handle.pac_cuda_conv_grad_weight_partials
        self._partials.restype = ctypes.c_int64
        listed = self._handle.pac_cuda_architectures
        listed.restype = ctypes.c_char_p
        self.architectures: tuple[Capability, ...] = tuple(
            (int(number) // 100, int(number) // 10 % 10)
            for number in listed().decode().split(",")
            if number.isdigit()  # "emulation" is none
        )

    def runs_on(self, capability: Capability) -> bool:
        """Whether it has code for such a device, or PTX that the driver can compile for it."""
        of_family = any(
            built[0] == capability[0] and built <= capability for built in self.architectures
        )
        return of_family or capability >= max(self.architectures, default=(0, 0))

    def built_for(self) -> str:
        """The architectures, for people."""
        return ", ".join(f"{major}.{minor}" for major, minor in self.architectures)

    def call(self, name: str, *arguments: Argument) -> None:
        """Launches operator ``name`` for the dtype, on the device of the first tensor.

        Raises RuntimeError with the kernel's name and launch shape if it could not be launched.
        """
        first = next(a for a in arguments if isinstance(a, Tensor))
        if name == "pac_conv_grad_weight":
            arguments = (*arguments, self._partial_sums(arguments[0], first.device))
        function = f"{name.replace('pac_', 'pac_cuda_', 1)}_{self.suffixes[first.dtype]}"
        on_cuda = first.device.type == "cuda"
        with torch.cuda.device(first.device) if on_cuda else contextlib.nullcontext():
            stream = torch.cuda.current_stream(first.device).cuda_stream if on_cuda else None
            self.run(function, *arguments, ctypes.c_void_p(stream))

    def _failure(self, function: str) -> Exception:
        reason = self._last_error().decode()
        advice = ""
        if "no kernel image" in reason:
            advice = (
                f"; the library is built for compute capability {self.built_for()}: build it "
                "again on this machine, see docs/cuda.md"
            )
        return RuntimeError(f"{function}: {reason}{advice}")

    def _partial_sums(self, shape: Argument, device: torch.device) -> Tensor | None:
        """Room for what the gradient of the weight sums in parts, if it does."""
        assert isinstance(shape, PacShape)  # noqa: S101 - the operator's first argument
        count = self._partials(ctypes.byref(shape))
        return torch.empty(count, dtype=torch.float32, device=device) if count else None


def load() -> CudaLibrary:
    """Opens the library; raises OSError, with the reason, if it cannot be had."""
    path = files("pacbench.kernels") / "libpacbench_cuda.so"
    if not path.is_file():
        raise OSError(
            "the CUDA library is not built; where nvcc is, run `PACBENCH_CUDA=ON pip install .`"
        )
    return CudaLibrary(str(path))


def _loaded() -> tuple[CudaLibrary | None, str]:
    if torch.version.cuda is None:
        return None, f"torch {torch.__version__} is built without CUDA"
    try:
        return load(), ""
    except OSError as reason:
        return None, str(reason)


library, why_missing = _loaded()
