"""PAC-CRF: its equation, its invariances, the release's names, gradients through whole CRFs."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from pacbench.pac import ImageGuidedPacCRF, PacCRF, PacCRFLoose
from pacbench.pac.blur import grow, shrink

COMPATIBILITIES = [
    {"compat_type": "4d"},
    {"compat_type": "2d"},
    {"compat_type": "2d", "spatial_filter": False, "blur": 2},
    {"compat_type": "potts"},
    {"compat_type": "potts", "spatial_filter": False, "pairwise_weight": 0.5},
    {"compat_type": "na", "blur": 3},
]


def inputs(
    labels: int = 3, size: tuple[int, int] = (7, 6), dtype: torch.dtype = torch.float64
) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(3)
    unary = torch.randn(2, labels, *size, generator=generator, dtype=dtype)
    guide = torch.randn(2, 3, *size, generator=generator, dtype=dtype)
    return unary, guide


def crf_of(*kernels: dict[str, Any], steps: int = 2, **arguments: Any) -> PacCRF:
    arguments = {"perturbed_init": False, "pairwise_kernels": list(kernels), **arguments}
    return PacCRF(3, steps, **arguments).double()


def test_one_step_is_the_equation() -> None:
    """By loops over pixels, taps and pairs of labels, with weights that are not symmetric."""
    unary, guide = inputs()
    crf = crf_of({"kernel_size": 3, "dilation": 2, "pairwise_weight": 0.7}, steps=1)
    weight = crf.messengers[0].weight
    torch.nn.init.normal_(weight)
    torch.nn.init.constant_(crf.unary_weight, 1.3)
    marginals = F.softmax(unary, dim=1)
    expected = 1.3 * unary
    height, width = unary.shape[2:]
    for y in range(height):
        for x in range(width):
            for tap_y in range(3):
                for tap_x in range(3):
                    v, u = y + 2 * (tap_y - 1), x + 2 * (tap_x - 1)
                    if not (0 <= v < height and 0 <= u < width):
                        continue
                    distance = ((guide[:, :, y, x] - guide[:, :, v, u]) ** 2).sum(dim=1)
                    kernel = torch.exp(-0.5 * distance)[:, None]
                    message = marginals[:, :, v, u] @ weight[:, :, tap_y, tap_x].T
                    expected[:, :, y, x] -= 0.7 * kernel * message
    torch.testing.assert_close(crf(unary, guide), expected)


@pytest.mark.parametrize("kernel", COMPATIBILITIES, ids=str)
def test_output_forms(kernel: dict[str, Any]) -> None:
    unary, guide = inputs()
    crf = crf_of(kernel)
    log_q = crf(unary, guide)
    crf.final_output = "softmax"
    marginals = crf(unary, guide)
    torch.testing.assert_close(marginals.sum(dim=1), torch.ones(2, 7, 6, dtype=torch.float64))
    torch.testing.assert_close(marginals, F.softmax(log_q, dim=1))
    crf.final_output = "log_softmax"
    torch.testing.assert_close(crf(unary, guide), F.log_softmax(log_q, dim=1))


@pytest.mark.parametrize("kernel", COMPATIBILITIES, ids=str)
def test_a_constant_added_to_the_unaries_changes_nothing(kernel: dict[str, Any]) -> None:
    unary, guide = inputs()
    crf = crf_of(kernel, final_output="softmax")
    torch.testing.assert_close(crf(unary + 5, guide), crf(unary, guide))


@pytest.mark.parametrize("kernel", COMPATIBILITIES, ids=str)
def test_without_pairwise_weight_the_unaries_come_back(kernel: dict[str, Any]) -> None:
    unary, guide = inputs()
    crf = crf_of({**kernel, "pairwise_weight": 0.0}, unary_weight=1.0)
    torch.testing.assert_close(crf(unary, guide), unary)


def test_potts_is_the_4d_kernel_up_to_a_constant() -> None:
    """What opposes a label, Σ of the others' Q, is 1 less what supports it."""
    unary, guide = inputs()
    full = crf_of({"compat_type": "4d"}, final_output="softmax")
    potts = crf_of({"compat_type": "potts"}, final_output="softmax")
    torch.testing.assert_close(full(unary, guide), potts(unary, guide))


@pytest.mark.parametrize("kernel", COMPATIBILITIES, ids=str)
def test_gradients_of_a_whole_crf(kernel: dict[str, Any]) -> None:
    unary, guide = inputs(size=(4, 5))
    crf = crf_of(kernel, perturbed_init=True)
    learned = [p for p in crf.parameters() if p.requires_grad]

    def run(unary: Tensor, guide: Tensor, *_: Tensor) -> Tensor:
        return crf(unary, guide)

    unary.requires_grad_()
    guide.requires_grad_(kernel["compat_type"] != "na")
    used = [
        p
        for p in learned
        if torch.autograd.grad(run(unary, guide).square().sum(), p, allow_unused=True)[0]
        is not None
    ]
    assert torch.autograd.gradcheck(run, (unary, guide, *used), fast_mode=True)


def test_gradients_of_a_loose_crf() -> None:
    unary, guide = inputs(size=(4, 5))
    crf = PacCRFLoose(3, 2, pairwise_kernels=[{"kernel_size": 3}, {"blur": 2}]).double()
    learned = {key: p for key, p in crf.named_parameters() if "pairwise_weights" not in key}

    def run(unary: Tensor, guide: Tensor, *values: Tensor) -> Any:
        given = dict(zip(learned, values, strict=True))
        return torch.func.functional_call(crf, given, (unary, guide))

    leaves = [p.detach().requires_grad_() for p in learned.values()]
    given = (unary.requires_grad_(), guide.requires_grad_(), *leaves)
    assert torch.autograd.gradcheck(run, given, fast_mode=True)


def test_state_dict_has_the_names_of_the_release() -> None:
    crf = crf_of({"kernel_size": 5}, {"compat_type": "2d", "kernel_size": 3})
    assert {name: tuple(value.shape) for name, value in crf.state_dict().items()} == {
        "unary_weight": (),
        "messengers.0.weight": (3, 3, 5, 5),
        "messengers.1.weight": (1, 1, 3, 3),
        "compat.1.weight": (3, 3, 1, 1),
        "pairwise_weights.0": (),
        "pairwise_weights.1": (),
    }
    fixed = crf_of({}, fixed_weighting=True)
    assert "unary_weight" not in fixed.state_dict()
    loose = PacCRFLoose(3, 2, pairwise_kernels={"kernel_size": 3})
    assert set(loose.state_dict()) == {
        f"steps.{step}.{name}"
        for step in range(2)
        for name in ("unary_weight", "messengers.0.weight", "pairwise_weights.0")
    }


def test_loose_with_equal_weights_is_the_tied_crf() -> None:
    unary, guide = inputs()
    tied = crf_of({"kernel_size": 3}, {"dilation": 2}, steps=3, final_output="softmax")
    loose = PacCRFLoose(3, 3, "softmax", perturbed_init=False)
    loose.add_pairwise_kernel(kernel_size=3)
    loose.add_pairwise_kernel(dilation=2)
    loose.double()
    assert loose.num_pairwise_kernels() == tied.num_pairwise_kernels() == 2
    torch.testing.assert_close(loose(unary, guide), tied(unary, guide))
    kernels = tied.edge_kernels(guide)
    torch.testing.assert_close(loose(unary, None, kernels), tied(unary, None, kernels))


def test_one_guide_for_all_or_one_for_each() -> None:
    unary, guide = inputs()
    crf = crf_of({"kernel_size": 3}, {"kernel_size": 3, "blur": 2})
    torch.testing.assert_close(crf(unary, guide), crf(unary, [guide, guide]))
    assert not torch.allclose(crf(unary, guide), crf(unary, [guide, 2 * guide]))


def test_a_start_other_than_the_unaries() -> None:
    unary, guide = inputs()
    one, two = crf_of({}, steps=1), crf_of({}, steps=2)
    torch.testing.assert_close(one(unary, guide, None, one(unary, guide)), two(unary, guide))


def test_perturbation_is_small_and_can_be_undone() -> None:
    crf = crf_of({"compat_type": "2d"}, perturbed_init=True)
    potts = 1 - torch.eye(3, dtype=torch.float64)
    difference = crf.compat[0].weight[:, :, 0, 0] - potts
    assert 0 < difference.abs().max() < 1e-3
    crf.perturbed_init = False
    torch.nn.init.zeros_(crf.unary_weight)
    crf.reset_parameters()
    torch.testing.assert_close(crf.compat[0].weight[:, :, 0, 0], potts)
    assert crf.unary_weight == 1


@pytest.mark.parametrize("size", [(8, 8), (7, 9), (5, 3), (1, 1)])
@pytest.mark.parametrize("factor", [1, 2, 4])
def test_blur_keeps_sizes_and_constants(size: tuple[int, int], factor: int) -> None:
    image = torch.full((1, 2, *size), 3.0)
    torch.testing.assert_close(grow(shrink(image, factor), factor, size), image)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kernel_size": 4}, "kernel_size is 4; expected an odd number"),
        ({"blur": 0}, "blur is 0"),
        ({"compat_type": "pots"}, r"compat_type is 'pots'; allowed: .* \(did you mean 'potts'"),
    ],
)
def test_mistaken_kernels(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        crf_of(arguments)


def test_mistaken_calls() -> None:
    unary, guide = inputs()
    with pytest.raises(ValueError, match="final_output is 'logQ'"):
        PacCRF(3, 1, "logQ")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="both None"):
        crf_of({})(unary, None)
    with pytest.raises(ValueError, match="edge_feat has 1 entries; expected 2"):
        crf_of({}, {})(unary, [guide])


def test_image_guided_crf_learns_its_scales() -> None:
    unary, image = inputs(dtype=torch.float32)
    crf = ImageGuidedPacCRF(3, dilations=(1, 2), kernel_size=3, rgb_scale=1.0)
    assert [tuple(scale.shape) for scale in crf.feat_scales] == [(3,), (3,)]
    loss = F.cross_entropy(crf(unary, image), unary.argmax(dim=1).flip(2))
    loss.backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in crf.feat_scales)
