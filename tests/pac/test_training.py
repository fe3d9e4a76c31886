"""Gradients of every parameter, and layers that learn."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call

from pacbench.pac import PacConv2d, PacConvTranspose2d, PacPool2d

pytestmark = pytest.mark.usefixtures("one_thread")

KERNELS = [
    pytest.param({}, id="gaussian"),
    pytest.param(
        {"kernel_type": "inv_0.3_1.2_asym", "smooth_kernel_type": "full_3"}, id="inv-asym-full"
    ),
    pytest.param({"kernel_type": "inv_0.3_1.2", "normalize_kernel": True}, id="inv-normalized"),
]
LAYERS = [
    pytest.param(lambda **o: PacConv2d(2, 3, 3, 2, 1, **o), (3, 4), id="conv"),
    pytest.param(
        lambda **o: PacConv2d(2, 2, 3, padding=2, dilation=2, shared_filters=True, **o),
        (3, 4),
        id="conv-shared",
    ),
    pytest.param(lambda **o: PacConvTranspose2d(2, 3, 3, 2, 1, 1, **o), (6, 8), id="transposed"),
    pytest.param(
        lambda **o: PacPool2d(3, padding=1, channel_wise=True, out_channels=2, **o),
        (3, 4),
        id="pool",
    ),
]


@pytest.mark.parametrize("options", KERNELS)
@pytest.mark.parametrize(("make", "guide_size"), LAYERS)
@pytest.mark.parametrize("masked", [False, True], ids=["all", "masked"])
def test_gradcheck(make, guide_size, options, masked: bool, backend: str) -> None:
    layer = make(dtype=torch.float64, backend=backend, **options)
    parameters = dict(layer.named_parameters())
    image = torch.rand(1, 2, 3, 4).double().requires_grad_()
    guide = torch.rand(1, 2, *guide_size).double().requires_grad_()
    mask = (torch.rand(1, 1, 3, 4) > 0.3).double() if masked else None

    def call(image: Tensor, guide: Tensor, *values: Tensor) -> Tensor:
        named = dict(zip(parameters, values, strict=True))
        output = functional_call(layer, named, (image, guide, None, mask))
        return output[0] if masked else output

    assert torch.autograd.gradcheck(call, (image, guide, *parameters.values()))


def learn(layer: nn.Module, teacher: nn.Module, guide_size: tuple[int, int]) -> list[float]:
    image, guide = torch.rand(2, 2, 8, 8), 2 * torch.rand(2, 2, *guide_size)
    with torch.no_grad():
        target = teacher(image, guide)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.02)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(layer(image, guide), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize(
    ("make", "guide_size"),
    [
        pytest.param(
            lambda kind, **o: PacConv2d(2, 2, 3, kernel_type=kind, **o), (8, 8), id="conv"
        ),
        pytest.param(
            lambda kind, **o: PacConvTranspose2d(2, 2, 3, 2, 1, 1, kernel_type=kind, **o),
            (16, 16),
            id="transposed",
        ),
        pytest.param(lambda kind, **o: PacPool2d(3, kernel_type=kind, **o), (8, 8), id="pool"),
    ],
)
def test_layers_learn(make, guide_size, backend: str) -> None:
    teacher = make("inv_0.1_2", backend=backend)
    layer = make("inv_0.6_1", smooth_kernel_type="full_3", backend=backend)
    losses = learn(layer, teacher, guide_size)
    assert losses[-1] < 0.2 * losses[0]


def test_a_guide_is_learned_through_the_layer(backend: str) -> None:
    """The features that make K get gradients, so a network can learn them."""
    features, layer = nn.Conv2d(3, 4, 1), PacConv2d(2, 2, 3, padding=1, backend=backend)
    image, picture = torch.rand(1, 2, 6, 6), torch.rand(1, 3, 6, 6)
    layer(image, features(picture)).square().sum().backward()
    assert features.weight.grad is not None
    assert features.weight.grad.abs().sum() > 0
