"""Which implementation of a method a cell measures."""

from __future__ import annotations

from pacbench.errors import listing
from pacbench.kernels import can_run
from pacbench.method import DeviceName, Method


def resolve_backend(name: str, cls: type[Method], device: DeviceName) -> str:
    """The backend that ``name`` means for this method on such a device of this machine.

    ``auto`` is ``native`` where the method has it and the kernel library for the device loads, else
    the first other one. Raises ``ValueError`` for a backend that the method does not have.
    """
    backends = cls.info.backends
    if name == "auto":
        usable = [b for b in backends if b != "native" or can_run((), device)[0]]
        return "native" if "native" in usable else usable[0]
    if name not in backends:
        raise ValueError(f"'{cls.info.title}' has no backend '{name}'; it has {listing(backends)}")
    return name
