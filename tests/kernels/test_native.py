"""The native library in its process: which backend runs, what is loaded, and memory safety."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from pacbench import kernels
from pacbench.kernels import _cuda, _library, _native, backend, reference


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs ``code`` in a fresh interpreter."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def convolve(name: str | None, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    image, weight = torch.ones(1, 2, 5, 5, dtype=dtype), torch.ones(2, 2, 3, 3, dtype=dtype)
    return kernels.pac_conv2d(image, image, weight, backend=name)


@pytest.fixture
def no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_native, "library", None)
    monkeypatch.setattr(_native, "why_missing", "the native library for 'avx2' is not built")
    monkeypatch.setattr(backend, "_warned", False)


def test_process_wide_backend() -> None:
    before = kernels.get_backend()
    try:
        kernels.set_backend("reference")
        assert kernels.get_backend() == "reference"
        assert backend.choose(None, []).__name__.endswith("reference")
        assert backend.choose("native", []).__name__.endswith("ops")
        with pytest.raises(ValueError, match="backend is 'fast'; allowed: reference, native, auto"):
            kernels.set_backend("fast")
    finally:
        kernels.set_backend(before)


def test_can_run_says_why_not() -> None:
    assert kernels.can_run([torch.ones(1), None]) == (True, "")
    assert kernels.can_run([torch.ones(1, dtype=torch.bfloat16)]) == (
        False,
        "native computes in float32, float64 on cpu; got torch.bfloat16",
    )
    assert kernels.can_run([torch.ones(1, device="meta")]) == (
        False,
        "native computes on cpu and cuda; got a tensor on meta",
    )


def test_auto_falls_back_on_dtype_silently() -> None:
    assert convolve("auto", torch.bfloat16).dtype == torch.bfloat16
    with pytest.raises(ValueError, match="backend is 'native', but native computes in float32"):
        convolve("native", torch.bfloat16)


@pytest.mark.usefixtures("no_library")
def test_missing_library_warns_once() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outputs = [convolve("auto") for _ in range(3)]
    assert [str(w.message) for w in caught] == [
        "PAC runs in plain torch, which is several times slower: "
        "the native library for 'avx2' is not built"
    ]
    assert Path(caught[0].filename).name == "test_native.py"
    torch.testing.assert_close(outputs[0], convolve("reference"))
    with pytest.raises(ValueError, match="backend is 'native', but the native library"):
        convolve("native")


def test_missing_cuda_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors on a GPU: plain torch with a warning that says what to do, or an error."""
    monkeypatch.setattr(_cuda, "library", None)
    monkeypatch.setattr(_cuda, "why_missing", "the CUDA library is not built; do build it")
    monkeypatch.setattr(backend, "_warned", False)
    with FakeTensorMode():  # needs no GPU
        tensor = torch.empty(1, device="cuda")
    with pytest.warns(RuntimeWarning, match="slower: the CUDA library is not built; do build it"):
        assert backend.choose("auto", [None, tensor]) is reference
    with pytest.raises(ValueError, match="backend is 'native', but the CUDA library is not built"):
        backend.choose("native", [tensor])
    with pytest.raises(ValueError, match="but native computes on cpu; got cuda"):
        backend.choose("native", [tensor], devices=("cpu",))


def test_environment_variables() -> None:
    code = """
        from pacbench import kernels
        from pacbench.kernels import _native
        print(kernels.get_backend(), _native.library.path)
    """
    run = python(code, PACBENCH_BACKEND="reference", PACBENCH_ISA="baseline")
    assert run.stdout.split()[0] == "reference"
    assert run.stdout.strip().endswith("libpacbench_kernels_baseline.so")
    assert "PACBENCH_BACKEND is 'fast'; allowed" in python(code, PACBENCH_BACKEND="fast").stderr
    assert "instruction set is 'avx1'; allowed" in python(code, PACBENCH_ISA="avx1").stderr


def test_best_instruction_set_is_loaded() -> None:
    available = _native.available_isas()
    assert available[-1] == "baseline"
    assert _native.load().path.endswith(f"_{available[0]}.so")


def test_library_of_other_sources_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_library, "ABI_VERSION", _library.ABI_VERSION + 1)
    with pytest.raises(OSError, match=r"was built from other sources .*: build it again"):
        _native.load("baseline")


def test_one_openmp_runtime() -> None:
    """The library brings no OpenMP runtime of its own beside torch's."""
    run = python(
        """
        import torch
        from threadpoolctl import threadpool_info
        before = {i["filepath"] for i in threadpool_info() if i["user_api"] == "openmp"}
        from pacbench import kernels
        x = torch.ones(1, 2, 64, 64)
        kernels.pac_conv2d(x, x, torch.ones(2, 2, 3, 3), backend="native")
        after = [i["filepath"] for i in threadpool_info() if i["user_api"] == "openmp"]
        print(len(after), before == set(after))
        """
    )
    assert run.stdout.split() == ["1", "True"], run.stderr
