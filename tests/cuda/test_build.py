"""Building the CUDA library: when it is, for what, and what the library is like."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from pacbench import doctor, kernels
from pacbench.kernels import _cuda, _native

CMAKE = shutil.which("cmake", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
KERNELS = Path(__file__).parents[2] / "kernels"


def run(*command: object, **environment: str) -> str:
    """Runs a command; what it printed, whether it failed or not."""
    done = subprocess.run(
        [str(word) for word in command],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("yes", "PACBENCH_CUDA is 'yes'; allowed: AUTO, ON, OFF"),
        ("ON", "PACBENCH_CUDA is ON, but no working nvcc was found; put it on the PATH or name it"),
        ("AUTO", "CUDA library: not built, no working nvcc was found"),
        ("off", "CUDA library: not built, PACBENCH_CUDA is OFF"),
    ],
)
def test_configure_without_nvcc(wanted: str, said: str, tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nvcc")
    configure = (CMAKE, "-S", KERNELS, "-B", tmp_path, f"-DPACBENCH_CUDA={wanted}")
    printed = run(*configure, CUDACXX=nowhere)
    assert said in printed
    assert ("Build files have been written" in printed) == (wanted in ("AUTO", "off"))


@pytest.mark.parametrize(
    ("gpus", "known", "expected"),
    [
        ("8.6 12.0 8.6", "75 80 86 120", "86-real;120"),
        ("9.0", "75 80 90 100", "90"),
        ("7.0", "75 80", "75-virtual"),  # a GPU that this nvcc no longer knows
        ("", "50 70 75 80", "70-virtual"),
    ],
)
def test_default_architectures(gpus: str, known: str, expected: str, tmp_path: Path) -> None:
    for program, lines in (
        ("nvidia-smi", gpus.split()),
        ("nvcc", [f"compute_{number}" for number in known.split()]),
    ):
        path = tmp_path / program
        path.write_text("#!/bin/sh\n" + "".join(f"echo {line}\n" for line in lines))
        path.chmod(0o755)
    script = tmp_path / "script.cmake"
    script.write_text(
        f'include("{KERNELS}/csrc/cuda_architectures.cmake")\n'
        f'default_architectures("{tmp_path}/nvcc" result)\nmessage("${{result}}")\n'
    )
    printed = run(CMAKE, "-P", script, PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert printed == expected


def test_doctor_finds_nvcc_where_the_build_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvcc = tmp_path / "bin" / "nvcc"
    nvcc.parent.mkdir()
    nvcc.touch(0o755)
    monkeypatch.delenv("CUDACXX", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert doctor._nvcc().finding == str(nvcc)


@pytest.fixture(scope="module")
def library() -> _cuda.CudaLibrary:
    """The library as it is installed, which loads where there is no GPU, too."""
    try:
        return _cuda.load()
    except OSError as reason:
        pytest.skip(str(reason))


def test_it_says_what_it_is_built_for(library: _cuda.CudaLibrary) -> None:
    assert library.architectures
    assert library.architectures >= ((7, 0),)


def test_its_cuda_runtime_is_its_own(library: _cuda.CudaLibrary) -> None:
    """No symbol of the CUDA runtime is taken from, or given to, the one that torch brings."""
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("no nm to read symbols with")
    words = run(nm, "--dynamic", library.path).split()
    assert "pac_cuda_conv_f32" in words
    assert [word for word in words if word.startswith(("cuda", "__cuda"))] == []


def test_a_failed_launch_says_kernel_and_shape(
    library: _cuda.CudaLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device: launches do not fail")
    monkeypatch.setattr(_native, "library", library)
    with pytest.raises(
        RuntimeError,
        match=r"pac_cuda_adapting_kernel_f32: kernel adapting_kernel\w*.*, launched with grid "
        r"\(1, 1, 1\), block \(\d+, \d+, 1\) and \d+ bytes .*: .* \(cudaError\w+\)",
    ):
        kernels.adapting_kernel(torch.ones(1, 2, 5, 5), 3, padding=1, backend="native")
