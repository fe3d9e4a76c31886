"""FCN-8s: its keys, sizes and alignment; its paddings compute the same; PAC-FCN is a swap of it."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pacbench.pac import ImageGuidedPacCRF, PacConv2d, hot_swap
from pacbench.pac.fcn import MEAN_BGR, FCN8s, RefinedFCN, caffe_input, slim_fcn8s
from pacbench.train.release import import_release

SWAPPED = ["conv3_3", "conv4_3", "conv5_3"]


def with_scores(model: FCN8s) -> FCN8s:
    """Its scores start at 0; random ones say where they land."""
    for score in (model.score_fr, model.score_pool3, model.score_pool4):
        nn.init.normal_(score.weight, std=0.1)
    return model.eval()


def small(padding: int) -> FCN8s:
    return FCN8s(5, padding, width=0.0625, head=8)  # type: ignore[arg-type]


def test_keys_and_shapes_are_those_of_the_caffe_model() -> None:
    with torch.device("meta"):
        state = FCN8s().state_dict()
    counts = {1: 2, 2: 2, 3: 3, 4: 3, 5: 3}
    convs = [f"conv{group}_{i + 1}" for group, n in counts.items() for i in range(n)]
    layers = [*convs, "fc6", "fc7", "score_fr", "score_pool3", "score_pool4"]
    grown = ["upscore2.weight", "upscore8.weight", "upscore_pool4.weight"]
    assert (
        list(state) == [f"{name}.{part}" for name in layers for part in ("weight", "bias")] + grown
    )
    shapes = {key: tuple(state[key].shape) for key in state}
    assert shapes["conv1_1.weight"] == (64, 3, 3, 3)
    assert shapes["fc6.weight"] == (4096, 512, 7, 7)
    assert shapes["score_pool4.weight"] == (21, 512, 1, 1)
    assert shapes["upscore8.weight"] == (21, 21, 16, 16)
    assert sum(value.numel() for value in state.values()) == 134_489_759


@pytest.mark.parametrize("padding", [1, 100])
@pytest.mark.parametrize("size", [(32, 64), (33, 47), (1, 97)])
def test_scores_have_the_images_size(padding: int, size: tuple[int, int]) -> None:
    assert small(padding).eval()(torch.zeros(1, 3, *size)).shape == (1, 5, *size)


def test_both_paddings_compute_the_same() -> None:
    """Padding conv1_1 by 100 and cropping is padding the image by 99, with every layer's own.

    But for the margin, where FCN has no scores of fc7 beyond those whose window is whole.
    """
    padded, inside = with_scores(small(100)), small(1).eval()
    inside.load_state_dict(padded.state_dict())
    image = 60 * torch.randn(1, 3, 96, 110)
    expected = inside(F.pad(image, [99] * 4))[:, :, 99:, 99:]
    inner = (..., slice(32, 80), slice(32, 90))
    torch.testing.assert_close(padded(image)[inner], expected[inner], rtol=1e-4, atol=1e-3)


def test_upscore_is_bilinear_and_fixed() -> None:
    model = small(1)
    scores = torch.randn(1, 5, 6, 7)
    expected = F.interpolate(scores, scale_factor=8, mode="bilinear")
    inner = (..., slice(4, -4), slice(4, -4))  # beyond the outermost centres there is nothing
    torch.testing.assert_close(model.upscore8(scores)[inner], expected[inner])
    assert not any(p.requires_grad for name, p in model.named_parameters() if "upscore" in name)


def test_slim_is_slim_and_normalised() -> None:
    model = slim_fcn8s()
    assert sum(p.numel() for p in model.parameters()) < 600_000
    assert isinstance(model.norm5_3, nn.BatchNorm2d)
    assert model.conv4_1.out_channels == 64


@pytest.mark.parametrize(("argument", "value"), [("padding", 50), ("width", 0.0), ("width", 1.5)])
def test_arguments_are_checked(argument: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{argument} is {value}; expected"):
        FCN8s(**{argument: value})


def test_pac_fcn_is_a_swap_that_changes_little() -> None:
    model = with_scores(small(1))
    image = 60 * torch.randn(1, 3, 64, 70)
    before, parameters = model(image), sum(p.numel() for p in model.parameters())
    hot_swap(model, SWAPPED, "relu2_2")
    after = model(image)
    assert all(isinstance(getattr(model, name), PacConv2d) for name in SWAPPED)
    assert sum(p.numel() for p in model.parameters()) == parameters
    assert (after - before).abs().max() < 1e-3 * before.abs().max()


def test_refined_by_a_crf_learns_in_both() -> None:
    model = RefinedFCN(with_scores(small(1)), ImageGuidedPacCRF(5, [2], 3, 2))
    output: Tensor = model(60 * torch.randn(1, 3, 32, 40))
    output.square().mean().backward()
    assert output.shape == (1, 5, 32, 40)
    assert model.backbone.conv1_1.weight.grad.abs().sum() > 0
    assert model.crf.feat_scales[0].grad.abs().sum() > 0


def test_caffe_input_is_bgr_without_the_mean() -> None:
    image = torch.tensor([10, 20, 30], dtype=torch.uint8).view(1, 3, 1, 1)
    expected = [level - mean for level, mean in zip((30, 20, 10), MEAN_BGR, strict=True)]
    torch.testing.assert_close(caffe_input(image).flatten(), torch.tensor(expected))


def test_converted_caffe_weights_are_known() -> None:
    with torch.device("meta"):
        state = FCN8s().state_dict()
    (imported,) = import_release(state)
    assert imported.method == "fcn8s"
    assert imported.params == {"width": 1.0, "padding": 100}
    assert imported.state.keys() == state.keys()
