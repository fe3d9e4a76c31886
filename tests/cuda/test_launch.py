"""Where operators are launched, seen without a GPU: tensors and torch.cuda are made up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch._subclasses import FakeTensorMode

from pacbench.kernels._cuda import CudaLibrary


def test_device_and_stream_are_those_of_the_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[tuple[str, Any]] = []

    @contextmanager
    def guard(device: torch.device) -> Iterator[None]:
        log.append(("enter", device))
        yield
        log.append(("leave", device))

    def current_stream(device: torch.device) -> SimpleNamespace:
        return SimpleNamespace(cuda_stream=40 + device.index)

    monkeypatch.setattr(torch.cuda, "device", guard)
    monkeypatch.setattr(torch.cuda, "current_stream", current_stream)
    library = CudaLibrary.__new__(CudaLibrary)  # without a file
    monkeypatch.setattr(library, "run", lambda name, *rest: log.append((name, rest[-1].value)))
    with FakeTensorMode():
        image = torch.empty(1, 2, 3, 4, device="cuda:1", dtype=torch.float16)

    library.call("pac_pool", None, image)

    there = torch.device("cuda:1")
    assert log == [("enter", there), ("pac_cuda_pool_f16", 41), ("leave", there)]
