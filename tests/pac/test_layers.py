"""The layers as modules: what they hold, how they begin, how they are stored, moved and shown."""

from __future__ import annotations

import copy
import inspect
import io
import pickle

import pytest
import torch
from torch import nn

from pacbench.pac import PacConv2d, PacConvTranspose2d, PacPool2d

# Keys and shapes of the release's layers, for the arguments beside them.
STATE_DICTS = [
    (lambda: PacConv2d(4, 6, 3), {"weight": (6, 4, 3, 3), "bias": (6,)}),
    (lambda: PacConv2d(4, 6, (3, 5), bias=False), {"weight": (6, 4, 3, 5)}),
    (
        lambda: PacConv2d(4, 4, 3, shared_filters=True),
        {"weight": (1, 1, 3, 3), "bias": (4,)},
    ),
    (
        lambda: PacConv2d(4, 6, 3, kernel_type="inv_0.2_3", smooth_kernel_type="full_5"),
        {
            "weight": (6, 4, 3, 3),
            "bias": (6,),
            "inv_alpha": (),
            "inv_lambda": (),
            "smooth_kernel": (1, 1, 5, 5),
        },
    ),
    (
        lambda: PacConv2d(4, 4, 3, bias=False, shared_filters=True, filler="crf_pool"),
        {"weight": (1, 1, 3, 3)},
    ),
    (
        lambda: PacConvTranspose2d(4, 6, 5, kernel_type="inv_0.2_3_asym_fixed"),
        {"weight": (4, 6, 5, 5), "bias": (6,), "inv_alpha": (), "inv_lambda": ()},
    ),
    (lambda: PacPool2d(3), {}),
    (
        lambda: PacPool2d(3, kernel_type="inv_1_2", channel_wise=True, out_channels=7),
        {"inv_alpha": (7,), "inv_lambda": (7,)},
    ),
    (
        lambda: PacPool2d(
            3, kernel_type="inv_1_2_fixed", channel_wise=True, smooth_kernel_type="gaussian"
        ),
        {"inv_alpha": (), "inv_lambda": (), "smooth_kernel": (1, 1, 3, 3)},
    ),
]


@pytest.mark.parametrize(("make", "expected"), STATE_DICTS)
def test_state_dict_is_the_releases(make, expected: dict[str, tuple[int, ...]]) -> None:
    layer, other = make(), make()
    state = layer.state_dict()
    assert {name: tuple(tensor.shape) for name, tensor in state.items()} == expected
    stored = io.BytesIO()
    torch.save({name: tensor + 0.5 for name, tensor in state.items()}, stored)
    stored.seek(0)
    other.load_state_dict(torch.load(stored, weights_only=True))
    for name, tensor in other.state_dict().items():
        torch.testing.assert_close(tensor, state[name] + 0.5)


def test_parameters_come_in_the_releases_order() -> None:
    layer = PacConv2d(2, 2, 3, kernel_type="inv_1_1", smooth_kernel_type="full_3")
    names = [name for name, _ in layer.named_parameters()]
    assert names == ["weight", "bias", "inv_alpha", "inv_lambda", "smooth_kernel"]


def test_fixed_values_are_not_learned() -> None:
    layer = PacConv2d(
        2, 2, 3, bias=False, kernel_type="inv_1_1_fixed", shared_filters=True, filler="pool"
    )
    assert list(layer.parameters()) == []


RELEASE_ARGUMENTS = {
    PacConv2d: "in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, "
    "bias=True, kernel_type='gaussian', smooth_kernel_type='none', normalize_kernel=False, "
    "shared_filters=False, filler='uniform', native_impl=False",
    PacConvTranspose2d: "in_channels, out_channels, kernel_size, stride=1, padding=0, "
    "output_padding=0, dilation=1, bias=True, kernel_type='gaussian', smooth_kernel_type='none', "
    "normalize_kernel=False, shared_filters=False, filler='uniform', native_impl=False",
    PacPool2d: "kernel_size, stride=1, padding=0, dilation=1, kernel_type='gaussian', "
    "smooth_kernel_type='none', channel_wise=False, normalize_kernel=False, out_channels=-1, "
    "native_impl=False",
}


@pytest.mark.parametrize("layer", RELEASE_ARGUMENTS, ids=lambda layer: layer.__name__)
def test_positional_arguments_are_the_releases(layer: type[nn.Module]) -> None:
    parameters = inspect.signature(layer).parameters.values()
    positional = [
        p.name if p.default is p.empty else f"{p.name}={p.default!r}"
        for p in parameters
        if p.kind is p.POSITIONAL_OR_KEYWORD
    ]
    assert ", ".join(positional) == RELEASE_ARGUMENTS[layer]
    forward = list(inspect.signature(layer.forward).parameters)
    assert forward == ["self", "input_2d", "input_for_kernel", "kernel", "mask"]


@pytest.mark.parametrize("size", [(9, 12), (17, 8)])
@pytest.mark.parametrize("stride", [1, 2, (3, 1)])
@pytest.mark.parametrize("dilation", [1, (2, 3)])
def test_output_sizes_are_torchs(size, stride, dilation) -> None:
    image = torch.rand(1, 2, *size)
    geometry = {"kernel_size": (3, 5), "stride": stride, "padding": (1, 4), "dilation": dilation}
    conv = PacConv2d(2, 3, **geometry)
    assert conv(image, image).shape == nn.Conv2d(2, 3, **geometry)(image).shape
    grown = nn.ConvTranspose2d(2, 3, **geometry)(image)
    transposed = PacConvTranspose2d(2, 3, **geometry)
    assert transposed(image, torch.rand(1, 4, *grown.shape[2:])).shape == grown.shape
    pool = PacPool2d(3, stride, 1)
    assert pool(image, image).shape == nn.AvgPool2d(3, stride, 1)(image).shape


def test_kernel_given_is_the_same_as_guide(backend: str) -> None:
    image, guide = torch.rand(2, 4, 8, 9), torch.rand(2, 3, 8, 9)
    conv = PacConv2d(4, 3, 3, padding=1, kernel_type="inv_0.3_1.1", backend=backend)
    kernel, mask = conv.compute_kernel(guide)
    assert mask is None
    assert kernel.shape == (2, 1, 3, 3, 8, 9)
    torch.testing.assert_close(conv(image, None, kernel), conv(image, guide))
    pool = PacPool2d(5, 2, 2, backend=backend)
    kernel, _ = pool.compute_kernel(guide)
    torch.testing.assert_close(pool(image, None, kernel), pool(image, guide))
    grow = PacConvTranspose2d(4, 3, 5, 2, 2, 1, backend=backend)
    large = torch.rand(2, 3, 16, 18)
    kernel, _ = grow.compute_kernel(large)
    assert kernel.shape == (2, 1, 5, 5, 16, 18)
    torch.testing.assert_close(grow(image, None, kernel), grow(image, large))


def test_native_impl_changes_nothing() -> None:
    image, guide = torch.rand(1, 2, 6, 6), torch.rand(1, 3, 6, 6)
    plain, other = PacConv2d(2, 2, 3), PacConv2d(2, 2, 3, native_impl=True)
    other.load_state_dict(plain.state_dict())
    assert torch.equal(plain(image, guide), other(image, guide))


def test_channel_wise_pools_each_channel_by_its_own_kernel(backend: str) -> None:
    image, guide = torch.rand(1, 3, 7, 7), torch.rand(1, 3, 7, 7)
    output = PacPool2d(3, channel_wise=True, backend=backend)(image, guide)
    single = PacPool2d(3, backend=backend)
    for c in range(3):
        one = slice(c, c + 1)
        torch.testing.assert_close(output[:, one], single(image[:, one], guide[:, one]))


def test_shared_filters_filter_each_channel(backend: str) -> None:
    image, guide = torch.rand(2, 3, 7, 7), torch.rand(2, 3, 7, 7)
    conv = PacConv2d(3, 3, 3, padding=1, shared_filters=True, backend=backend)
    grow = PacConvTranspose2d(3, 3, 3, padding=1, shared_filters=True, backend=backend)
    for layer, dense in ((conv, PacConv2d(3, 3, 3, padding=1)), (grow, None)):
        output = layer(image, guide)
        assert output.shape == image.shape
        if dense is not None:
            with torch.no_grad():
                dense.weight.copy_(torch.eye(3)[:, :, None, None] * layer.weight)
                dense.bias.copy_(layer.bias)
            torch.testing.assert_close(output, dense(image, guide))
        else:  # at stride 1 with this padding the transposed layer is the plain one
            conv.load_state_dict(layer.state_dict())
            torch.testing.assert_close(output, conv(image, guide))


@pytest.mark.parametrize("copy_of", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])  # noqa: S301
def test_copies_and_dtypes(copy_of) -> None:
    layer = PacConv2d(2, 3, 3, kernel_type="inv_1_1_fixed", smooth_kernel_type="gaussian")
    image, guide = torch.rand(1, 2, 6, 6), torch.rand(1, 3, 6, 6)
    other = copy_of(layer)
    assert torch.equal(other(image, guide), layer(image, guide))
    double = other.to(torch.float64)
    assert {tensor.dtype for tensor in double.state_dict().values()} == {torch.float64}
    output = double(image.double(), guide.double())
    torch.testing.assert_close(output.float(), layer(image, guide))


def test_dtype_at_construction() -> None:
    layer = PacConvTranspose2d(
        2, 2, 3, kernel_type="inv_1_1", smooth_kernel_type="average_3", dtype=torch.float64
    )
    assert {tensor.dtype for tensor in layer.state_dict().values()} == {torch.float64}
    on_meta = PacPool2d(3, kernel_type="inv_1_1", device="meta")
    assert on_meta.inv_alpha is not None
    assert on_meta.inv_alpha.is_meta


def test_shown_like_torchs_layers() -> None:
    layer = PacConv2d(4, 4, 3, padding=1, bias=False, shared_filters=True, normalize_kernel=True)
    assert repr(layer) == (
        "PacConv2d(4, 4, kernel_size=(3, 3), kernel_type=gaussian, padding=(1, 1), "
        "normalize_kernel=True, bias=False, shared_filters=True)"
    )
    pool = PacPool2d(3, 2, kernel_type="inv_1_2_fixed", channel_wise=True)
    assert repr(pool) == (
        "PacPool2d(kernel_size=(3, 3), kernel_type=inv_1_2_fixed, stride=(2, 2), channel_wise=True)"
    )
