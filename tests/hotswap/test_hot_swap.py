"""Hot-swapping in networks of others: little changes at first, nothing is lost, all is undone."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from pacbench.pac import PacConv2d, hot_swap, packernel2d, unswap

Swap = tuple[str, Any, str]
Swapped = Callable[..., tuple[nn.Module, nn.Module]]

SWAPS = [
    pytest.param(("vgg", ["features.5", "features.8"], "features.1"), id="vgg-names"),
    pytest.param(("vgg", "features.[5-8]", "features.0"), id="vgg-glob"),
    pytest.param(("resnet", ["layer1.1.conv2", "layer2.1.conv2"], "relu"), id="resnet-names"),
    pytest.param(("resnet", "layer2.*", "layer1"), id="resnet-glob"),
]


@pytest.fixture
def image() -> Tensor:
    return torch.randn(2, 3, 46, 51)


def pac_layers(model: nn.Module) -> dict[str, nn.Module]:
    return {name: m for name, m in model.named_modules() if isinstance(m, PacConv2d)}


@pytest.mark.parametrize("swap", SWAPS)
def test_output_hardly_changes_at_first(swapped: Swapped, swap: Swap, image: Tensor) -> None:
    original, model = swapped(*swap)
    before, after = original(image), model(image)
    assert pac_layers(model)
    assert (after - before).abs().max() < 1e-3 * before.abs().max()


@pytest.mark.parametrize("swap", SWAPS)
def test_parameters_and_their_names_stay(swapped: Swapped, swap: Swap) -> None:
    original, model = swapped(*swap)
    assert [(name, p.shape) for name, p in original.named_parameters()] == [
        (name, p.shape) for name, p in model.named_parameters()
    ]
    assert list(original.state_dict()) == list(model.state_dict())


@pytest.mark.parametrize("learn_scale", [False, True])
@pytest.mark.parametrize("swap", SWAPS)
def test_loads_the_originals_weights(
    swapped: Swapped, swap: Swap, learn_scale: bool, image: Tensor
) -> None:
    original, _ = swapped(*swap)
    _, model = swapped(*swap, learn_scale=learn_scale)  # other random weights
    model.load_state_dict(original.state_dict())
    torch.testing.assert_close(model(image), original(image))


@pytest.mark.parametrize("swap", SWAPS)
def test_unswap_gives_the_original_back(swapped: Swapped, swap: Swap, image: Tensor) -> None:
    original, model = swapped(*swap)
    parameters = list(model.parameters())
    assert unswap(model) is model
    assert torch.equal(model(image), original(image))
    assert str(model) == str(original)
    assert all(a is b for a, b in zip(parameters, model.parameters(), strict=True))
    assert not any(module._forward_hooks for module in model.modules())


def test_names_and_globs_choose_layers(swapped: Swapped) -> None:
    _, model = swapped("resnet", ["layer1.0.conv2", "layer2.*.conv?"], "bn1")
    assert list(pac_layers(model)) == [
        "layer1.0.conv2",
        "layer2.0.conv1",
        "layer2.0.conv2",
        "layer2.1.conv1",
        "layer2.1.conv2",
    ]


def test_k_is_that_of_the_resized_guide(swapped: Swapped, image: Tensor) -> None:
    """By hand: the guide after its ReLU in place, bilinear to the layer's size, times the scale."""
    original, model = swapped("vgg", "features.5", "features.1", scale=0.3)
    features = original.features
    guide = features[1](features[0](image))
    inputs = features[:5](image)
    guide = nn.functional.interpolate(guide, inputs.shape[2:], mode="bilinear")
    kernel, _ = packernel2d(0.3 * guide, kernel_size=3, padding=1)
    layer = PacConv2d(8, 16, 3, padding=1)
    layer.load_state_dict(features[5].state_dict())
    rest = nn.Sequential(*features[6:], original.avgpool, nn.Flatten(), original.classifier)
    torch.testing.assert_close(model(image), rest(layer(inputs, None, kernel)))
    assert not torch.allclose(model(image), original(image), rtol=1e-3)


def test_guide_is_what_the_layer_gave_before_a_relu_in_place(
    swapped: Swapped, image: Tensor
) -> None:
    _, before = swapped("vgg", "features.5", "features.0", scale=1.0)
    after = hot_swap(unswap(copy.deepcopy(before)), "features.5", "features.1", scale=1.0)
    assert not torch.allclose(before(image), after(image))


def test_guide_learns_through_the_swapped_layer(swapped: Swapped, image: Tensor) -> None:
    """With the scale learned, in spite of the ReLU in place behind the guide."""
    _, model = swapped("vgg", "features.8", "features.0", scale=0.5, learn_scale=True)
    model.train()(image).square().sum().backward()
    scale = dict(model.named_parameters())["features.8.guide_scale"]
    assert scale.item() == 0.5
    assert scale.grad is not None
    assert scale.grad.abs() > 0
    with_guide = model.features[0].weight.grad.clone()
    fixed = unswap(copy.deepcopy(model))
    fixed.zero_grad()
    fixed(image).square().sum().backward()
    assert not torch.allclose(with_guide, fixed.features[0].weight.grad)


def test_fine_tuned_weights_go_back_into_the_convolution(swapped: Swapped, image: Tensor) -> None:
    _, model = swapped("vgg", "features.5", "features.1")
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    model(image).square().mean().backward()
    optimiser.step()
    tuned = model.features[5].weight.clone()
    unswap(model)
    assert torch.equal(model.features[5].weight, tuned)
    assert type(model.features[5]) is nn.Conv2d


# Torch itself means to hide this one, but cannot where warnings are errors.
HIDDEN = "ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning"


@pytest.mark.filterwarnings(HIDDEN)
@pytest.mark.parametrize("swap", [SWAPS[0], SWAPS[3]])
def test_compiles(swapped: Swapped, swap: Swap, image: Tensor) -> None:
    torch.compiler.reset()
    _, model = swapped(*swap, scale=0.1)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    for shift in (0.0, 1.0):  # each pass has a guide of its own
        torch.testing.assert_close(compiled(image + shift), model(image + shift))


@pytest.mark.filterwarnings(HIDDEN)
def test_compiles_in_training(swapped: Swapped, image: Tensor) -> None:
    torch.compiler.reset()
    _, model = swapped("resnet", "layer2.*.conv2", "relu", scale=0.1, learn_scale=True)
    compiled = torch.compile(model, backend="aot_eager")
    model(image).square().sum().backward()
    expected = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    compiled(image).square().sum().backward()
    for parameter, gradient in zip(model.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-4, atol=1e-5)


def test_copies_have_guides_of_their_own(swapped: Swapped, image: Tensor) -> None:
    original, model = swapped("vgg", "features.5", "features.1", scale=0.3)
    expected = model(image)
    twin = copy.deepcopy(model)
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    saved = torch.load(file, weights_only=False)
    assert torch.equal(unswap(model)(image), original(image))
    assert torch.equal(twin(image), expected)
    assert torch.equal(saved(image), expected)
    assert torch.equal(unswap(twin)(image), original(image))


def test_nothing_of_a_pass_stays_in_memory(swapped: Swapped, image: Tensor) -> None:
    _, model = swapped("vgg", "features.5", "features.1")
    model(image)
    assert model.features[5].tap.features is None


def test_hooks_of_others_stay(vgg: nn.Module, image: Tensor) -> None:
    model, calls = vgg, []
    handle = model.features[5].register_forward_hook(lambda *_: calls.append(1))
    hot_swap(model, "features.5", "features.1")
    model(image)
    unswap(model)(image)
    assert len(calls) == 2
    handle.remove()
    model(image)
    assert len(calls) == 2


def test_a_swapped_layer_can_guide(swapped: Swapped, image: Tensor) -> None:
    original, model = swapped("vgg", "features.8", "features.5")
    hot_swap(model, "features.5", "features.0")
    torch.testing.assert_close(model(image), original(image))
    assert torch.equal(unswap(model)(image), original(image))


def test_a_layer_in_two_places_is_swapped_in_both() -> None:
    conv = nn.Conv2d(4, 4, 3, padding=1)
    model = nn.Sequential(nn.Conv2d(3, 4, 1), conv, nn.ReLU(), conv)
    image = torch.randn(1, 3, 9, 8)
    expected = model(image)
    hot_swap(model, ["1", "3"], "0")
    assert model[1] is model[3]
    assert isinstance(model[1], PacConv2d)
    torch.testing.assert_close(model(image), expected)


@pytest.mark.parametrize("padding", ["same", "valid", (0, 2)])
def test_windows_of_all_kinds(padding: Any) -> None:
    conv = nn.Conv2d(4, 2, (3, 5), padding=padding, dilation=(2, 1))
    model = nn.Sequential(nn.Conv2d(3, 4, 1), conv)
    image = torch.randn(1, 3, 12, 13)
    expected = model(image)
    torch.testing.assert_close(hot_swap(model, "1", "0")(image), expected)
    torch.testing.assert_close(unswap(model)(image), expected)
