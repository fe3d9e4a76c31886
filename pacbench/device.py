"""Where cells run."""

from __future__ import annotations

from pacbench.errors import UserError
from pacbench.method import DeviceName
from pacbench.suite.schema import DeviceChoice


def resolve_device(choice: DeviceChoice) -> DeviceName:
    """The device that ``choice`` means here; ``cuda`` without a usable one is a ``UserError``."""
    if choice == "cpu":
        return "cpu"
    import torch  # not needed for a suite on the CPU, and slow to import

    if torch.cuda.is_available():
        return "cuda"
    if choice == "auto":
        return "cpu"
    built = "is built without CUDA" if torch.version.cuda is None else "finds no usable device"
    raise UserError(
        f"device cuda: torch {torch.__version__} {built}; "
        "use --device cpu, or see what is missing with `pacbench doctor`"
    )
