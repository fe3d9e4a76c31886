"""BCL-CRF and CRF-RNN: what holds for every CRF, their gradients, and Full-CRF as a yardstick."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from pacbench.baselines.crf.bcl_crf import BCLCRF
from pacbench.baselines.crf.crf_rnn import CRFRNN
from pacbench.baselines.crf.lattice_crf import LatticeCRF, LatticeCRFParams
from pacbench.data.base import Sample
from pacbench.method import Context, methods

CRFS: dict[str, type[LatticeCRF]] = {"bcl_crf": BCLCRF, "crf_rnn": CRFRNN}
BACKENDS = ["reference", "native"]


def inputs(batch: int = 1, labels: int = 4, size: tuple[int, int] = (20, 26)) -> list[Tensor]:
    """Logits (B, L, H, W) and an image of two areas (B, 3, H, W)."""
    height, width = size
    area = (torch.arange(height)[:, None] > torch.arange(width) * height / width).float()
    image = 60 + 120 * area.expand(batch, 3, -1, -1) + 4 * torch.randn(batch, 3, *size)
    return [torch.randn(batch, labels, *size) + area, image.clamp(0, 255).round()]


def crf_of(name: str, backend: str = "native", labels: int = 4, **params: Any) -> LatticeCRF:
    return CRFS[name](labels, LatticeCRFParams(**params), backend=backend)


def run_method(name: str, sample: Sample, backend: str, **params: Any) -> NDArray[Any]:
    cls = methods[name]
    with torch.inference_mode():
        method = cls(cls.Params(**params), Context("cpu", backend, 1, 0, sample))
        return method.finish(method.run(method.prepare(sample)))


@pytest.mark.parametrize("name", CRFS)
def test_backends_agree(name: str) -> None:
    unary, image = inputs(batch=2)
    native, reference = (crf_of(name, backend)(unary, image) for backend in BACKENDS[::-1])
    assert native.shape == unary.shape
    torch.testing.assert_close(native, reference, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", CRFS)
def test_images_of_a_batch_do_not_meet(name: str) -> None:
    unary, image = inputs(batch=2)
    crf = crf_of(name)
    apart = [crf(u[None], i[None]) for u, i in zip(unary, image, strict=True)]
    torch.testing.assert_close(crf(unary, image), torch.cat(apart), rtol=1e-4, atol=1e-4)


def as_sample(unary: Tensor, image: Tensor) -> Sample:
    return Sample(name="a", image=image[0].numpy().astype(np.uint8), unary=unary[0].numpy())


@pytest.mark.parametrize("backend", BACKENDS)
def test_crf_rnn_at_its_start_is_full_crf(backend: str) -> None:
    """Marginals after 5 steps differ by rounding only: 2e-6 here, 2e-5 at 375×500 and 21 labels."""
    sample = as_sample(*inputs(size=(40, 50)))
    full = run_method("full_crf", sample, "pydensecrf")
    marginals = torch.from_numpy(run_method("crf_rnn", sample, backend)).softmax(0)
    assert np.abs(marginals.numpy() - full).max() < 1e-5


def test_bcl_crf_at_its_start_is_close_to_full_crf() -> None:
    """Its Gaussians are of one step on a coarser lattice: marginals differ by 0.01 on average."""
    sample = as_sample(*inputs(size=(40, 50)))
    full = run_method("full_crf", sample, "pydensecrf")
    marginals = torch.from_numpy(run_method("bcl_crf", sample, "native")).softmax(0).numpy()
    assert np.abs(marginals - full).mean() < 0.02
    assert (marginals.argmax(0) == full.argmax(0)).mean() > 0.95


@pytest.mark.parametrize("name", CRFS)
def test_every_parameter_learns(name: str) -> None:
    unary, image = inputs()
    crf = crf_of(name, w1=0.5, w2=0.5)
    labels = (image[:, 0] > 120).long()
    optimiser = torch.optim.Adam(crf.parameters(), lr=0.02)
    losses = []
    for _ in range(6):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(crf(unary, image), labels)
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0]
    for key, parameter in crf.named_parameters():
        assert parameter.grad is not None, key
        assert parameter.grad.abs().sum() > 0, key


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("name", CRFS)
def test_gradcheck_through_the_whole_crf(name: str) -> None:
    unary, image = (t.double() for t in inputs(labels=2, size=(3, 4)))
    crf = crf_of(name, labels=2, steps=2, w1=0.5, w2=0.4).double()
    parameters = dict(crf.named_parameters())

    def marginals(unary: Tensor, *values: Tensor) -> Tensor:
        given = dict(zip(parameters, values, strict=True))
        output = torch.func.functional_call(crf, given, (unary, image))
        return torch.as_tensor(output).softmax(1)

    leaves = [p.detach().requires_grad_() for p in parameters.values()]
    assert torch.autograd.gradcheck(marginals, (unary.requires_grad_(), *leaves))
