"""The mean-field step: its messages by definition, its gradients, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from pacbench import kernels
from pacbench.kernels import Pairwise, mean_field_step

B, L, H, W = 2, 3, 5, 6
TAPS = (3, 5)

Make = Callable[..., Tensor]
TERMS: dict[str, Callable[[Make], Pairwise]] = {
    "dense": lambda new: Pairwise(new(L, L, *TAPS), kernel=new(B, 1, *TAPS, H, W), dilation=2),
    "dense-of-guide": lambda new: Pairwise(new(L, L, *TAPS), guide=new(B, 2, H, W)),
    "convolution": lambda new: Pairwise(new(L, L, *TAPS)),
    "compatibility": lambda new: Pairwise(
        new(1, 1, *TAPS), guide=new(B, 2, H, W), compatibility=new(L, L)
    ),
    "potts": lambda new: Pairwise(new(1, 1, *TAPS), kernel=new(B, 1, *TAPS, H, W)),
    "potts-convolution": lambda new: Pairwise(new(1, 1, *TAPS), dilation=3),
}


def doubles(*shape: int) -> Tensor:
    return torch.randn(shape, dtype=torch.float64)


def by_definition(marginals: Tensor, term: Pairwise) -> Tensor:
    """m_i(l) = Σ_{l'} Σ_j K_ij W_{ll'}[p_i − p_j] Q_j(l'), in loops over the taps."""
    eye = torch.eye(L, dtype=marginals.dtype)
    labels = eye if term.compatibility is None else term.compatibility
    weight = term.weight if term.weight.shape[0] == L else labels[:, :, None, None] * term.weight
    (kh, kw), dilation = TAPS, term.dilation
    padded = torch.nn.functional.pad(
        marginals, [dilation * (kw // 2)] * 2 + [dilation * (kh // 2)] * 2
    )
    result = torch.zeros_like(marginals)
    for y in range(kh):
        for x in range(kw):
            seen = padded[:, :, y * dilation :, x * dilation :][:, :, :H, :W]
            if term.guide is not None:
                options = (TAPS, 1, (dilation * (kh // 2), dilation * (kw // 2)), dilation)
                k = kernels.adapting_kernel(term.guide, *options, backend="reference")[:, :, y, x]
            else:
                k = torch.ones(()) if term.kernel is None else term.kernel[:, :, y, x]
            result += torch.einsum("ol,blhw->bohw", weight[:, :, y, x], k * seen)
    return result


@pytest.mark.parametrize("backend", ["reference", "native"])
@pytest.mark.parametrize("kind", TERMS)
def test_messages(kind: str, backend: str) -> None:
    unary, marginals = doubles(B, L, H, W), doubles(B, L, H, W).softmax(1)
    term = TERMS[kind](doubles)
    log_q = mean_field_step(unary, marginals, [term], backend=backend)
    torch.testing.assert_close(log_q, unary - by_definition(marginals, term))


@pytest.mark.parametrize("backend", ["reference", "native"])
def test_all_terms_and_outputs(backend: str) -> None:
    unary, marginals = doubles(B, L, H, W), doubles(B, L, H, W).softmax(1)
    terms = [make(doubles) for make in TERMS.values()]
    log_q = unary - sum(by_definition(marginals, term) for term in terms)
    for output, expected in (
        ("log_Q", log_q),
        ("softmax", log_q.softmax(1)),
        ("log_softmax", log_q.log_softmax(1)),
    ):
        step = mean_field_step(unary, marginals, terms, output, backend=backend)  # type: ignore[arg-type]
        torch.testing.assert_close(step, expected)
    torch.testing.assert_close(mean_field_step(unary, marginals, []), unary)


def test_gradients() -> None:
    unary, marginals, weight, guide, compatibility = (
        doubles(*shape).requires_grad_()
        for shape in ((1, L, 3, 4), (1, L, 3, 4), (1, 1, 3, 3), (1, 2, 3, 4), (L, L))
    )

    def step(*leaves: Tensor) -> Tensor:
        u, q, w, g, c = leaves
        return mean_field_step(u, q, [Pairwise(w, None, g, c, 2)], "softmax", backend="native")

    leaves = (unary, marginals, weight, guide, compatibility)
    assert torch.autograd.gradcheck(step, leaves, fast_mode=True)


def test_autocast_computes_in_float32() -> None:
    unary, marginals, kernel = (
        torch.randn(1, L, 4, 4),
        torch.rand(1, L, 4, 4),
        torch.rand(1, 1, 3, 3, 4, 4),
    )
    weight = torch.randn(L, L, 3, 3)
    with torch.autocast("cpu", torch.bfloat16):
        step = mean_field_step(unary, marginals.bfloat16(), [Pairwise(weight, kernel.bfloat16())])
    rounded = Pairwise(weight, kernel.bfloat16().float())
    expected = mean_field_step(unary, marginals.bfloat16().float(), [rounded])
    torch.testing.assert_close(step, expected, rtol=0, atol=0)


@pytest.mark.parametrize("grad", [False, True])
def test_compile(grad: bool) -> None:
    unary, marginals, *rest = (
        torch.randn(shape) for shape in ((1, L, 4, 4), (1, L, 4, 4), (1, 1, 3, 3), (1, 2, 4, 4))
    )

    def step(*tensors: Tensor) -> Tensor:
        weight, guide = tensors
        return mean_field_step(unary, marginals, [Pairwise(weight, guide=guide)], "softmax")

    leaves = [tensor.requires_grad_(grad) for tensor in rest]
    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(*leaves), step(*leaves))


@pytest.mark.parametrize(
    ("message", "change"),
    [
        (
            r"marginals has shape \(1, 3, 2, 2\); expected \(1, 3, 4, 4\)",
            {"marginals": (1, 3, 2, 2)},
        ),
        (
            r"terms\[0\].weight has shape .*; expected \(3, 3, any, any\) or",
            {"weight": (2, 3, 3, 3)},
        ),
        (r"terms\[0\].weight has \(3, 4\) taps; expected odd", {"weight": (3, 3, 3, 4)}),
        (r"terms\[0\].kernel has shape", {"kernel": (1, 1, 3, 3, 2, 2)}),
        (r"terms\[0\].guide has shape", {"guide": (1, 2, 2, 2)}),
        (r"terms\[0\].compatibility has shape", {"compatibility": (2, 2)}),
        (r"terms\[0\] has a compatibility and a weight of", {"compatibility": (3, 3)}),
        (
            r"terms\[0\] has a kernel and a guide",
            {"guide": (1, 2, 4, 4), "kernel": (1, 1, 3, 3, 4, 4)},
        ),
    ],
)
def test_wrong_shapes(message: str, change: dict[str, tuple[int, ...]]) -> None:
    shapes: dict[str, Any] = {"marginals": (1, 3, 4, 4), "weight": (3, 3, 3, 3)} | change
    tensors = {name: torch.zeros(shape) for name, shape in shapes.items()}
    marginals = tensors.pop("marginals")
    with pytest.raises(ValueError, match=message):
        mean_field_step(torch.zeros(1, 3, 4, 4), marginals, [Pairwise(**tensors)])


def test_wrong_output() -> None:
    unary = torch.zeros(1, 3, 4, 4)
    with pytest.raises(ValueError, match=r"output is 'softmx'; allowed: log_Q, .*did you mean"):
        mean_field_step(unary, unary, [], "softmx")  # type: ignore[arg-type]
