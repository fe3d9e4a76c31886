"""What the native operators are tested on: processors, emulated CUDA devices and real ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import torch
from emulation import emulated_library
from pac_cases import Case

from pacbench.kernels import _cuda, _native

EMULATED, CUDA = "emulated", "cuda"
CPU_DTYPES = (torch.float32, torch.float64)
CUDA_DTYPES = (torch.float32, torch.float16, torch.bfloat16)
HALF_CASES = ("small", "stride", "dilation-over-image", "uneven")

# Parts of the largest value: sums of hundreds of products in another order, and with 16 bits also
# what is stored between two operators.
TOLERANCE = {
    torch.float32: 4e-5,
    torch.float64: 2e-13,
    torch.float16: 4e-3,
    torch.bfloat16: 3e-2,
}


class Target(NamedTuple):
    """Where tensors are, and their dtype."""

    device: str
    dtype: torch.dtype

    @property
    def tolerance(self) -> float:
        return TOLERANCE[self.dtype]

    @property
    def reference_dtype(self) -> torch.dtype:
        """In which the reference computes: the operators sum 16-bit numbers in float32."""
        return torch.promote_types(self.dtype, torch.float32)

    def random(self, *shape: int) -> torch.Tensor:
        return torch.randn(*shape, dtype=self.reference_dtype).to(self.device, self.dtype)


def _param(library: str, dtype: torch.dtype, *values: Any, of: str = "") -> Any:
    name = f"{of}{library}-{str(dtype).removeprefix('torch.')}"
    marks = [pytest.mark.cuda] if library == CUDA else []
    return pytest.param(*values, (library, dtype), id=name, marks=marks)


ON_EVERY_LIBRARY = [_param(name, torch.float32) for name in (*_native.ISAS, EMULATED, CUDA)]


def at(cases: dict[str, Case], *names: str) -> pytest.MarkDecorator:
    """A test of each ``case``, or of those named, on each ``target``.

    The emulation takes 16-bit numbers to the cases of HALF_CASES alone: it is slow.
    """
    parameters = []
    for name in names or cases:
        targets = [(isa, dtype) for isa in _native.ISAS for dtype in CPU_DTYPES]
        emulated = CUDA_DTYPES if name in HALF_CASES else CUDA_DTYPES[:1]
        targets += [(EMULATED, dtype) for dtype in emulated]
        targets += [(CUDA, dtype) for dtype in CUDA_DTYPES]
        parameters += [_param(*target, cases[name], of=f"{name}-") for target in targets]
    return pytest.mark.parametrize(("case", "target"), parameters, indirect=["target"])


def use(library: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> Target:
    """Makes the native operators run with a library; skips, with the reason, where it cannot be."""
    if library == CUDA:
        if not torch.cuda.is_available():
            pytest.skip("no CUDA device")
        if _cuda.library is None:
            pytest.skip(_cuda.why_missing)
        return Target("cuda", dtype)
    try:
        if library == EMULATED:
            loaded = emulated_library()
            loaded.seed(torch.initial_seed() % 2**32)  # threads run in an order of the test's seed
        else:
            loaded = _native.load(library)
    except OSError as reason:
        pytest.skip(str(reason))
    monkeypatch.setattr(_native, "library", loaded)
    return Target("cpu", dtype)
