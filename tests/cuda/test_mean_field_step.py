"""The fused mean-field step against its reference: every kind of term, labels, dtypes."""

from __future__ import annotations

import pytest
import torch
from targets import CUDA_DTYPES, TOLERANCE
from torch import Tensor

from pacbench import kernels
from pacbench.kernels import Pairwise, mean_field_ops, mean_field_reference

KINDS = ("dense", "dense-of-guide", "convolution", "compatibility", "potts", "potts-of-guide")
OUTPUTS = ("log_Q", "softmax", "log_softmax")


class Problem:
    """Random unaries, marginals and terms of the given kinds, for images of L labels."""

    def __init__(self, labels: int, height: int, width: int, *kinds: str, batch: int = 1) -> None:
        self.size = batch, labels, height, width
        self.unary = 2 * torch.randn(self.size)
        self.marginals = torch.randn(self.size).softmax(1)
        self.terms = [
            self.term(kind, taps, dilation=2 * n + 1)
            for n, (kind, taps) in enumerate(
                zip(kinds, [(3, 5), (3, 3), (5, 1), (1, 1)], strict=False)
            )
        ]

    def term(self, kind: str, taps: tuple[int, int], dilation: int) -> Pairwise:
        batch, labels, height, width = self.size
        dense = kind in ("dense", "dense-of-guide", "convolution")
        guide = torch.randn(batch, 3, height, width) if kind.endswith("guide") else None
        given = torch.rand(batch, 1, *taps, height, width)
        return Pairwise(
            torch.randn(*((labels, labels) if dense else (1, 1)), *taps),
            None if guide is not None or kind == "convolution" else given,
            guide,
            torch.randn(labels, labels) if kind == "compatibility" else None,
            dilation,
        )

    def to(self, device: str, dtype: torch.dtype) -> tuple[Tensor, Tensor, list[Pairwise]]:
        def moved(value: Tensor | int | None) -> Tensor | int | None:
            return value.to(device, dtype) if isinstance(value, Tensor) else value

        terms = [Pairwise(*map(moved, term)) for term in self.terms]  # type: ignore[arg-type]
        return self.unary.to(device, dtype), self.marginals.to(device, dtype), terms

    def check(self, device: str, output: str, dtype: torch.dtype = torch.float32) -> None:
        arguments = self.to(device, dtype)
        precise = Problem.__new__(Problem)
        precise.unary, precise.marginals, precise.terms = arguments
        expected = mean_field_reference.mean_field_step(*precise.to("cpu", torch.float32), output)
        actual = mean_field_ops.mean_field_step(*arguments, output)
        assert actual.dtype == dtype
        atol = TOLERANCE[dtype] * float(expected.abs().max())
        torch.testing.assert_close(actual.to("cpu", torch.float32), expected, rtol=0.0, atol=atol)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_term(kind: str, device: str) -> None:
    Problem(5, 11, 37, kind, batch=2).check(device, "log_Q")


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("labels", [1, 21, 70])
def test_any_number_of_labels(labels: int, output: str, device: str) -> None:
    """Also more than the 64 that a block sums at a time."""
    Problem(labels, 9, 34, "dense", "compatibility", "potts-of-guide").check(device, output)


@pytest.mark.parametrize("dtype", CUDA_DTYPES, ids=str)
def test_four_terms(dtype: torch.dtype, device: str) -> None:
    Problem(9, 10, 33, *KINDS[:4]).check(device, "log_softmax", dtype)


def test_dilation_over_image(device: str) -> None:
    problem = Problem(4, 6, 7, "dense", "potts")
    problem.terms = [term._replace(dilation=32) for term in problem.terms]
    problem.check(device, "softmax")


def test_labels_ruled_out(device: str) -> None:
    """A unary of minus infinity gives probability 0, whichever thread sums the label."""
    problem = Problem(20, 8, 32, "dense")
    problem.unary[:, :9] = -torch.inf
    unary, marginals, terms = problem.to(device, torch.float32)
    step = mean_field_ops.mean_field_step(unary, marginals, terms, "softmax")
    assert torch.equal(step[:, :9], torch.zeros_like(step[:, :9]))
    torch.testing.assert_close(step.sum(1), torch.ones_like(step[:, 0]))


@pytest.mark.parametrize("dtype", CUDA_DTYPES, ids=str)
def test_probabilities_sum_to_1(dtype: torch.dtype, device: str) -> None:
    """Also where log Q' of many labels is rounded to 16 bits on its way to the softmax."""
    problem = Problem(70, 4, 33, "potts")
    problem.unary *= 20
    step = mean_field_ops.mean_field_step(*problem.to(device, dtype), "softmax").float()
    assert step.max() <= 1
    total, atol = step.sum(1), 1e-5 + torch.finfo(dtype).eps
    torch.testing.assert_close(total, torch.ones_like(total), rtol=0.0, atol=atol)


def test_without_terms(device: str) -> None:
    unary, marginals, _ = Problem(3, 4, 5).to(device, torch.float32)
    step = kernels.mean_field_step(unary, marginals, [], "softmax", backend="native")
    assert torch.equal(step, unary.softmax(1))


def test_no_terms_are_refused(device: str) -> None:
    unary, marginals, _ = Problem(3, 4, 5).to(device, torch.float32)
    with pytest.raises(RuntimeError, match="mean_field_step: expected 1 to 4 pairwise terms"):
        mean_field_ops.mean_field_step(unary, marginals, [], "softmax")
