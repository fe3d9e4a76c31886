"""Where cells run, and what the doctor says of CUDA; GPUs that are not there are made up."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from pacbench import backend, doctor
from pacbench.device import cuda_device, resolve_device
from pacbench.errors import UserError
from pacbench.kernels import _cuda
from pacbench.method import methods
from pacbench.suite.expand import expand
from pacbench.suite.schema import Suite

WriteSuite = Callable[..., Path]
Pacbench = Callable[..., subprocess.CompletedProcess[str]]


class Library(_cuda.CudaLibrary):
    """What the doctor asks of the library, without a file."""

    def __init__(self, *architectures: tuple[int, int]) -> None:
        self.architectures = architectures


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU of compute capability 8.6, as torch would report it."""
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (8, 6))


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.mark.usefixtures("no_gpu")
def test_without_a_device() -> None:
    assert cuda_device()[0] is None
    assert resolve_device("auto") == "cpu"
    with pytest.raises(UserError, match=r"device cuda: torch .* finds no usable device; use"):
        resolve_device("cuda")


def test_torch_without_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", None)
    with pytest.raises(UserError, match=r"device cuda: torch .* is built without CUDA; use"):
        resolve_device("cuda")


@pytest.mark.usefixtures("gpu")
def test_with_a_device() -> None:
    assert resolve_device("auto") == resolve_device("cuda") == "cuda"
    assert resolve_device("cpu") == "cpu"


def test_run_on_cuda_is_one_line_and_exit_code_2(
    write_suite: WriteSuite, pacbench: Pacbench
) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    done = pacbench("run", write_suite(), "--device", "cuda")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: device cuda: torch")
    assert len(done.stderr.splitlines()) == 1


def test_cells_say_where_they_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """On CUDA where the method can; its native backend only with the library."""
    suite = Suite.model_validate(
        {
            "name": "two",
            "task": "crf",
            "data": {"name": "scenes"},
            "methods": [{"name": "pac_crf"}, {"name": "unary"}],
        }
    )
    for library, native in ((Library((8, 6)), "native"), (None, "reference")):
        monkeypatch.setattr(_cuda, "library", library)
        cells, problems = expand(suite, "cuda", 1)
        assert problems == []
        assert [(cell.method, cell.device) for cell in cells] == [
            ("pac_crf", "cuda"),
            ("unary", "cpu"),
        ]
        assert cells[0].backend == native
    assert backend.resolve_backend("auto", methods["pac_crf"], "cpu") == "native"


@pytest.mark.parametrize(
    ("capability", "able"),
    [((7, 0), False), ((7, 5), True), ((8, 0), True), ((8, 6), True), ((9, 0), True)],
)
def test_what_a_library_runs_on(capability: tuple[int, int], able: bool) -> None:
    """Code serves later GPUs of its family, PTX of the newest all later ones."""
    assert Library((7, 5), (8, 0)).runs_on(capability) is able
    assert not Library((8, 0), (9, 0)).runs_on((7, 5))


class TestDoctor:
    @pytest.fixture(autouse=True)
    def _launches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(doctor, "_launch", lambda: "")

    def check(self, monkeypatch: pytest.MonkeyPatch, library: Library) -> doctor.Check:
        monkeypatch.setattr(_cuda, "load", lambda: library)
        return doctor._cuda_library()

    @pytest.mark.usefixtures("gpu")
    def test_usable(self, monkeypatch: pytest.MonkeyPatch) -> None:
        check = self.check(monkeypatch, Library((7, 5), (8, 0)))
        assert check.status == "ok"
        assert check.finding == "built for compute capability 7.5, 8.0; they run on this GPU"

    @pytest.mark.usefixtures("gpu")
    def test_built_for_other_gpus(self, monkeypatch: pytest.MonkeyPatch) -> None:
        check = self.check(monkeypatch, Library((9, 0)))
        assert check.status == "warn"
        assert "not for 8.6, which this GPU has" in check.finding
        assert check.advice.endswith("PACBENCH_CUDA_ARCHITECTURES=86 pip install .")

    @pytest.mark.usefixtures("gpu")
    def test_does_not_launch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(doctor, "_launch", lambda: "kernel k, launched with …: no driver")
        check = self.check(monkeypatch, Library((8, 6)))
        assert check.status == "warn"
        assert "but kernel k, launched with" in check.finding
        assert "does the driver fit" in check.advice

    @pytest.mark.usefixtures("no_gpu")
    def test_no_device(self, monkeypatch: pytest.MonkeyPatch) -> None:
        check = self.check(monkeypatch, Library((8, 6)))
        assert check.status == "ok"
        assert "finds no usable device" in check.finding

    def test_not_built(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr(_cuda, "files", lambda _: tmp_path)
        check = doctor._cuda_library()
        assert check.status == "missing"
        assert "PACBENCH_CUDA=ON pip install ." in check.finding
