"""Where cells run."""

from __future__ import annotations

from pacbench.errors import UserError
from pacbench.method import DeviceName
from pacbench.suite.schema import DeviceChoice


def cuda_device() -> tuple[tuple[int, int] | None, str]:
    """The compute capability of the CUDA device for cells, or None and why there is none."""
    import torch  # not needed for a suite on the CPU, and slow to import

    if torch.version.cuda is None:
        return None, f"torch {torch.__version__} is built without CUDA"
    if not torch.cuda.is_available():
        return None, f"torch {torch.__version__} finds no usable device"
    return torch.cuda.get_device_capability(), ""


def resolve_device(choice: DeviceChoice) -> DeviceName:
    """The device that ``choice`` means here; ``cuda`` without a usable one is a ``UserError``."""
    if choice == "cpu":
        return "cpu"
    device, why_not = cuda_device()
    if device is not None:
        return "cuda"
    if choice == "auto":
        return "cpu"
    raise UserError(
        f"device cuda: {why_not}; use --device cpu, or see what is missing with `pacbench doctor`"
    )
