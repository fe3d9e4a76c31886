"""What must hold for every CRF of the bench, as a method and as a module."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pacbench.baselines.crf.conv_crf import ConvCRF, ConvCRFParams
from pacbench.baselines.crf.full_crf import FullCRF
from pacbench.data.base import Sample
from pacbench.method import Context, Method, methods
from pacbench.pac import ImageGuidedPacCRF

NO_PAIRWISE: dict[str, dict[str, Any]] = {
    "full_crf": {"w1": 0.0, "w2": 0.0},
    "bcl_crf": {"w1": 0.0, "w2": 0.0},
    "crf_rnn": {"w1": 0.0, "w2": 0.0},
    "conv_crf": {"appearance_weight": 0.0, "smoothness_weight": 0.0, "unary_weight": 1.0},
    "pac_crf": {},  # has no weight to set: its filters are set to 0 below
}
CRFS = list(NO_PAIRWISE)


def sample_of(size: tuple[int, int] = (14, 17), labels: int = 4, shift: float = 0.0) -> Sample:
    """Two areas, a little noise, and unaries that are unsure of them."""
    random = np.random.default_rng(7)
    height, width = size
    area = np.arange(height)[:, None] > np.arange(width) * height / width
    image = 60 + 120 * area + random.normal(scale=4, size=(3, height, width))
    unary = random.normal(size=(labels, height, width)) + area + shift
    return Sample("a", image.round().astype(np.uint8), unary=unary.astype(np.float32))


def method_of(name: str, sample: Sample, **params: Any) -> Method:
    cls = methods[name]
    return cls(cls.Params(**params), Context("cpu", cls.info.backends[0], 1, 0, sample))


def marginals_of(method: Method, sample: Sample) -> NDArray[Any]:
    """Full-CRF returns marginals, the others log Q."""
    with torch.inference_mode():
        output = method.finish(method.run(method.prepare(sample)))
    return output if isinstance(method, FullCRF) else softmax(output)


def softmax(scores: NDArray[Any]) -> NDArray[Any]:
    exponentials = np.exp(scores.astype(float) - scores.max(axis=0))
    return np.asarray(exponentials / exponentials.sum(axis=0))


@pytest.mark.parametrize("name", CRFS)
def test_marginals_sum_to_one(name: str) -> None:
    sample = sample_of()
    marginals = marginals_of(method_of(name, sample), sample)
    assert marginals.shape == (4, 14, 17)
    assert marginals.min() >= 0
    np.testing.assert_allclose(marginals.sum(axis=0), 1, rtol=1e-5)


@pytest.mark.parametrize("name", CRFS)
def test_a_constant_added_to_the_unaries_changes_nothing(name: str) -> None:
    plain, shifted = (
        marginals_of(method_of(name, sample), sample)
        for sample in (sample_of(), sample_of(shift=3.0))
    )
    np.testing.assert_allclose(plain, shifted, atol=3e-5)


@pytest.mark.parametrize("name", CRFS)
def test_without_pairwise_weights_the_unaries_come_back(name: str) -> None:
    sample = sample_of()
    assert sample.unary is not None
    method = method_of(name, sample, **NO_PAIRWISE[name])
    if name == "pac_crf":
        for messenger in method.module.crf.messengers:  # type: ignore[attr-defined]
            nn.init.zeros_(messenger.weight)
    np.testing.assert_allclose(marginals_of(method, sample), softmax(sample.unary), atol=1e-5)


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (7, 2)], ids=str)
@pytest.mark.parametrize("name", CRFS)
def test_any_size(name: str, size: tuple[int, int]) -> None:
    """Smaller than windows and blurs too."""
    sample = sample_of(size)
    marginals = marginals_of(method_of(name, sample), sample)
    assert marginals.shape == (4, *size)
    np.testing.assert_allclose(marginals.sum(axis=0), 1, rtol=1e-5)


@pytest.mark.parametrize("name", ["conv_crf", "pac_crf"])
def test_images_of_a_batch_do_not_meet(name: str) -> None:
    """The others have their own test of it, or no batches."""
    crf, samples = modules()[name], [sample_of(labels=2), sample_of(labels=2, shift=1.0)]
    unary = torch.stack([torch.from_numpy(s.unary) for s in samples])
    image = torch.stack([torch.from_numpy(s.image) for s in samples])
    image[1] = image[1].flip(-1)
    apart = [crf(u[None], i[None]) for u, i in zip(unary, image, strict=True)]
    torch.testing.assert_close(crf(unary, image), torch.cat(apart))


@pytest.mark.parametrize("name", CRFS)
def test_set_up_and_steps_are_stages(name: str) -> None:
    sample = sample_of()
    method = method_of(name, sample, steps=3)
    stages = method.stages(method.prepare(sample))
    assert stages is not None
    assert list(stages) == ["set-up", "step", "step", "step"]


def test_full_crf_message_is_the_papers_equation() -> None:
    """One step against Σ_j K(f_i, f_j) Q_j by brute force.

    As pydensecrf has it, K is normalised and j may be i. Differences between labels, which alone
    matter, are within 6% of the message's size: the lattice's Gaussians are approximate.
    """
    sample = sample_of(size=(12, 15), labels=3)
    assert sample.unary is not None
    params = {"w1": 3.0, "w2": 2.0, "theta_alpha": 6.0, "theta_beta": 30.0, "theta_gamma": 2.0}
    marginals = marginals_of(method_of("full_crf", sample, steps=1, **params), sample)

    y, x = np.mgrid[:12, :15].reshape(2, -1).astype(float)
    colours = sample.image.reshape(3, -1).astype(float)
    appearance = np.stack([x / 6, y / 6, *(colours / 30)])
    start = softmax(sample.unary).reshape(3, -1)
    message = np.zeros_like(start)
    for features, weight in ((appearance, 3.0), (np.stack([x, y]) / 2, 2.0)):
        squared = ((features[:, :, None] - features[:, None, :]) ** 2).sum(axis=0)
        kernel = np.exp(-0.5 * squared)
        norm = 1 / np.sqrt(kernel.sum(axis=1))
        # Potts: what the other labels send, up to what is the same for all labels.
        message -= weight * start @ (norm[:, None] * kernel * norm)
    actual = sample.unary.reshape(3, -1) - np.log(marginals.reshape(3, -1))
    difference = _centred(actual) - _centred(message)
    error = np.linalg.norm(difference) / np.linalg.norm(_centred(message))
    assert error < 0.06


def _centred(scores: NDArray[Any]) -> NDArray[Any]:
    return scores - scores.mean(axis=0)


def modules() -> dict[str, nn.Module]:
    window = ConvCRFParams(steps=2, kernel_size=3, blur=2, theta_alpha=3.0)
    return {
        "conv_crf": ConvCRF(2, window, backend="reference"),
        "pac_crf": ImageGuidedPacCRF(2, (1, 2), 3, 2, backend="reference"),
    }


@pytest.mark.parametrize("name", ["conv_crf", "pac_crf"])
def test_gradcheck_through_the_whole_crf(name: str) -> None:
    """From the unaries and all that is learned, RGB scales included; the others have their own."""
    crf = modules()[name].double()
    sample = sample_of(size=(4, 5), labels=2)
    unary = torch.from_numpy(sample.unary)[None].double().requires_grad_()
    image = torch.from_numpy(sample.image)[None].double()
    learned = {key: p for key, p in crf.named_parameters() if "pairwise_weights" not in key}

    def marginals(unary: Tensor, *values: Tensor) -> Tensor:
        given = dict(zip(learned, values, strict=True))
        output = torch.func.functional_call(crf, given, (unary, image))
        return torch.as_tensor(output).softmax(1)

    leaves = [p.detach().requires_grad_(p.requires_grad) for p in learned.values()]
    assert torch.autograd.gradcheck(marginals, (unary, *leaves), fast_mode=True)
