"""Mistakes are told apart and named."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest
import torch

from pacbench import pac
from pacbench.kernels import reference
from pacbench.pac import PacConv2d, PacConvTranspose2d, PacPool2d
from pacbench.pac.kernel_types import (
    AdaptingKernelType,
    parse_kernel_type,
    parse_smooth_kernel_type,
)


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("gaussian", AdaptingKernelType()),
        ("inv_0.2_3", AdaptingKernelType("inv", 0.2, 3)),
        ("inv_0_-0.5_asym", AdaptingKernelType("inv", 0, -0.5, asym=True)),
        ("inv_1e-1_2_fixed", AdaptingKernelType("inv", 0.1, 2, fixed=True)),
        ("inv_1_2_asym_fixed", AdaptingKernelType("inv", 1, 2, asym=True, fixed=True)),
    ],
)
def test_kernel_types(name: str, parsed: AdaptingKernelType) -> None:
    assert parse_kernel_type(name) == parsed


@pytest.mark.parametrize(
    "name",
    ["", "gauss", "inv", "inv_1", "inv_a_2", "inv_nan_1", "inv_1_2_sym", "inv_1_2_asym_asym"],
)
def test_unknown_kernel_types(name: str) -> None:
    with pytest.raises(ValueError, match=rf"kernel_type is '{name}'; allowed: 'gaussian' or"):
        parse_kernel_type(name)
    with pytest.raises(ValueError, match="kernel_type"):
        PacConv2d(1, 1, 3, kernel_type=name)
    with pytest.raises(ValueError, match="kernel_type"):
        pac.pac_pool2d(torch.rand(1, 1, 3, 3), torch.rand(1, 1, 3, 3), 3, kernel_type=name)


@pytest.mark.parametrize("name", ["", "average", "average_2", "average_-3", "full_0", "mean_3"])
def test_unknown_smooth_kernel_types(name: str) -> None:
    with pytest.raises(ValueError, match=rf"smooth_kernel_type is '{name}'; allowed: 'none'"):
        parse_smooth_kernel_type(name)
    with pytest.raises(ValueError, match="smooth_kernel_type"):
        PacPool2d(3, smooth_kernel_type=name)


WRONG_LAYERS: list[tuple[str, Callable[[], object]]] = [
    ("kernel_size.*odd", lambda: PacConv2d(1, 1, 4)),
    ("kernel_size.*odd", lambda: PacPool2d((3, 2))),
    ("kernel_size is 0", lambda: PacPool2d(0)),
    ("stride is 0", lambda: PacPool2d(3, 0)),
    ("padding is -1", lambda: PacConv2d(1, 1, 3, padding=-1)),
    ("padding is 'same'", lambda: PacConv2d(1, 1, 3, padding="same")),  # type: ignore[arg-type]
    ("dilation is", lambda: PacConv2d(1, 1, 3, dilation=(1, 2, 3))),
    ("output_padding is", lambda: PacConvTranspose2d(1, 1, 3, 2, output_padding=2)),
    ("filler is 'normal'; allowed", lambda: PacConv2d(1, 1, 3, filler="normal")),
    ("shared_filters needs them", lambda: PacConv2d(1, 2, 3, shared_filters=True)),
    ("'crf' needs them", lambda: PacConv2d(1, 2, 3, filler="crf")),
    ("square", lambda: PacConv2d(2, 2, (3, 5), filler="crf")),
    ("needs shared_filters", lambda: PacConv2d(2, 2, 3, filler="pool")),
    ("needs PacConvTranspose2d", lambda: PacConv2d(2, 2, 3, filler="linear")),
    ("stride - 1 = 5", lambda: PacConvTranspose2d(2, 2, 3, 3, filler="linear")),
    ("out_channels is -1", lambda: PacPool2d(3, kernel_type="inv_1_2", channel_wise=True)),
]


@pytest.mark.parametrize(("message", "make"), WRONG_LAYERS)
def test_wrong_layers(message: str, make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=message):
        make()


IMAGE, GUIDE = torch.rand(2, 3, 6, 7), torch.rand(2, 4, 6, 7)
KERNEL = torch.rand(2, 1, 3, 3, 4, 5)
WRONG_CALLS: list[tuple[str, Callable[[], object]]] = [
    ("both None", lambda: PacConv2d(3, 2, 3)(IMAGE, None)),
    ("weight has shape", lambda: PacConv2d(2, 2, 3)(IMAGE, GUIDE)),
    ("guide has shape", lambda: PacConv2d(3, 2, 3)(IMAGE, GUIDE[..., 1:])),
    ("guide has shape", lambda: PacConvTranspose2d(3, 2, 3, 2)(IMAGE, GUIDE)),
    ("kernel has shape", lambda: PacConv2d(3, 2, 3)(IMAGE, None, KERNEL[..., 1:])),
    ("guide has dtype", lambda: PacConv2d(3, 2, 3)(IMAGE, GUIDE.double())),
    ("expected 5", lambda: PacPool2d(3, out_channels=5)(IMAGE, GUIDE)),
    ("input_for_kernel has shape", lambda: PacPool2d(3, channel_wise=True)(IMAGE, GUIDE)),
    ("kernel has shape", lambda: PacPool2d(3, channel_wise=True)(IMAGE, None, KERNEL)),
    ("mask has shape", lambda: PacConv2d(3, 2, 3)(IMAGE, GUIDE, None, torch.ones(2, 1, 6, 6))),
    ("mask has shape", lambda: PacConv2d(3, 2, 3)(IMAGE, GUIDE, None, torch.ones(6, 7))),
    (
        "guide has size \\(6, 7\\); no input",
        lambda: PacConvTranspose2d(3, 2, 3, 2, normalize_kernel=True)(IMAGE, GUIDE),
    ),
    ("input has shape", lambda: pac.pacconv2d(IMAGE[0], KERNEL, torch.rand(2, 3, 3, 3))),
    ("input_2d has shape", lambda: PacPool2d(3)(IMAGE[0], GUIDE)),
    ("guide has shape", lambda: PacPool2d(3)(IMAGE, GUIDE[0])),
    ("weight has shape", lambda: pac.pac_conv2d(IMAGE, GUIDE, torch.rand(3, 3))),
    ("kernel_size is 0", lambda: pac.packernel2d(GUIDE)),
    (
        "pass shared_filters=True",
        lambda: pac.pacconv2d(IMAGE, KERNEL, torch.rand(1, 1, 3, 3)),
    ),
    (
        "must be \\(1, 1, kh, kw\\)",
        lambda: pac.pacconv2d(IMAGE, KERNEL, torch.rand(2, 3, 3, 3), shared_filters=True),
    ),
    (
        "smooth_kernel has shape",
        lambda: pac.pac_pool2d(IMAGE, GUIDE, 3, smooth_kernel=torch.rand(3, 3)),
    ),
    (
        "smooth_kernel.*odd",
        lambda: pac.pac_pool2d(IMAGE, GUIDE, 3, smooth_kernel=torch.rand(1, 1, 2, 2)),
    ),
    (
        "gives an output of size",
        lambda: pac.pac_pool2d(IMAGE, GUIDE, 9, smooth_kernel=torch.rand(1, 1, 3, 3)),
    ),
    ("backend is 'cuda'", lambda: pac.pac_pool2d(IMAGE, GUIDE, 3, backend="cuda")),
]


@pytest.mark.parametrize(("message", "call"), WRONG_CALLS)
def test_wrong_calls(message: str, call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_inv_parameters_default_to_the_kernel_types() -> None:
    named = pac.pac_pool2d(IMAGE, GUIDE, 3, kernel_type="inv_0.2_3")
    given = pac.pac_pool2d(
        IMAGE,
        GUIDE,
        3,
        kernel_type="inv_9_9",
        inv_alpha=torch.tensor(0.2),
        inv_lambda=torch.tensor(3.0),
    )
    assert torch.equal(named, given)


def test_auto_is_what_the_process_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """'auto' leaves the choice to set_backend; a layer's own backend overrides it."""
    asked: list[str | None] = []

    def choose(backend: str | None, _: object) -> ModuleType:
        asked.append(backend)
        return reference

    monkeypatch.setattr("pacbench.kernels.functional.choose", choose)
    PacPool2d(3)(IMAGE, GUIDE)
    PacPool2d(3, backend="reference")(IMAGE, GUIDE)
    assert asked == [None, "reference"]
