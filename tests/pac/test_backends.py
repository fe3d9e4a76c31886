"""Layers on the native backend against the same layers on the reference, outputs and gradients."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from pacbench.kernels import can_run
from pacbench.pac import PacConv2d, PacConvTranspose2d, PacPool2d

_able, _why_not = can_run([torch.zeros(1)])
pytestmark = pytest.mark.skipif(not _able, reason=_why_not)

INV = {"kernel_type": "inv_0.3_1.5_asym", "smooth_kernel_type": "full_3"}
LAYERS = {
    # PAC-CRF's dilations; 64 puts whole tiles of pixels outside the image.
    "crf-16": (lambda **o: PacConv2d(3, 3, 5, padding=32, dilation=16, **o), (70, 90)),
    "crf-64": (lambda **o: PacConv2d(3, 3, 5, padding=128, dilation=64, **o), (70, 90)),
    "inv": (lambda **o: PacConv2d(3, 5, 3, padding=1, **INV, **o), (13, 59)),
    "normalized": (lambda **o: PacConv2d(3, 5, 7, 2, 3, normalize_kernel=True, **o), (20, 51)),
    "shared": (lambda **o: PacConv2d(3, 3, 3, 2, shared_filters=True, **INV, **o), (11, 97)),
    "dilation-over-image": (
        lambda **o: PacConv2d(3, 2, (5, 3), (5, 7), (3, 18), (3, 16), **o),
        (9, 2),
    ),
    "pool": (lambda **o: PacPool2d(11, padding=5, **o), (21, 60)),
    "pool-channels": (
        lambda **o: PacPool2d(3, 2, 1, channel_wise=True, out_channels=3, **INV, **o),
        (21, 60),
    ),
    "doubling": (lambda **o: PacConvTranspose2d(3, 4, 5, 2, 2, 1, **o), (15, 50)),
    "doubling-inv": (lambda **o: PacConvTranspose2d(3, 3, 3, 2, 1, 1, **INV, **o), (15, 50)),
}


def values(layer: nn.Module, *arguments: Tensor | None) -> dict[str, Tensor]:
    """The output and the gradients of a weighted sum of it."""
    layer.zero_grad()
    leaves = [None if a is None else a.clone().requires_grad_() for a in arguments]
    output = layer(*leaves)
    weights = torch.linspace(-1, 1, output.numel(), dtype=output.dtype).view_as(output)
    (output * weights).sum().backward()
    gradients = {f"argument {n}": leaf.grad for n, leaf in enumerate(leaves) if leaf is not None}
    return {
        "output": output,
        **gradients,
        **{name: parameter.grad for name, parameter in layer.named_parameters()},
    }


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("stored", [False, True], ids=["guide", "kernel"])
def test_backends_agree(name: str, dtype: torch.dtype, stored: bool) -> None:
    make, size = LAYERS[name]
    reference, native = (make(dtype=dtype, backend=b) for b in ("reference", "native"))
    native.load_state_dict(reference.state_dict())
    image = torch.rand(2, 3, *size, dtype=dtype)
    doubled = tuple(2 * n for n in size)
    guide = torch.rand(2, 3, *(doubled if reference.transposed else size), dtype=dtype)
    if stored:
        kernel = reference.compute_kernel(guide)[0].detach()
        expected = values(reference, image, None, kernel)
        found = values(native, image, None, kernel)
    else:
        expected, found = values(reference, image, guide), values(native, image, guide)
    for part, tensor in expected.items():
        if tensor is None:  # a parameter of K, which was given
            assert found[part] is None
            continue
        tolerance = 1e-10 if dtype == torch.float64 else 2e-5
        scale = tensor.abs().max().item()
        torch.testing.assert_close(
            found[part],
            tensor,
            rtol=tolerance,
            atol=tolerance * scale,
            msg=lambda m, part=part: f"{part}: {m}",
        )
