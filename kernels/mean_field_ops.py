"""The mean-field step as one native operator, which the library for CUDA has."""
# ruff: noqa: ARG001 - a fake has the arguments of its operator

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import torch
from torch import Tensor

from pacbench.kernels import _native, _structs, ops_kernel
from pacbench.kernels.mean_field_reference import Pairwise, is_dense

MAX_TERMS = 4  # PAC_MAX_PAIRWISE in csrc/pac_cuda.h
RESULTS = {"log_Q": 0, "softmax": 1, "log_softmax": 2}  # PacMeanFieldOutput


class PacPairwise(ctypes.Structure):
    _fields_ = [
        ("kernel", ctypes.c_void_p),
        ("guide", ctypes.POINTER(_structs.PacGuide)),
        ("weight", ctypes.c_void_p),
        ("compatibility", ctypes.c_void_p),
        ("potts", ctypes.c_int64),
        ("y", _structs.PacAxis),
        ("x", _structs.PacAxis),
    ]


def can_fuse(tensors: Sequence[Tensor | None], terms: int) -> bool:
    """Whether the operator takes so many terms of these tensors; it has no gradients."""
    given = [tensor for tensor in tensors if tensor is not None]
    library, _ = _native.library_for(given[0].device.type)
    differentiated = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in given)
    return (
        library is not None
        and library.has_mean_field_step
        and 1 <= terms <= MAX_TERMS
        and not differentiated
    )


def mean_field_step(
    unary: Tensor, marginals: Tensor, terms: Sequence[Pairwise], output: str
) -> Tensor:
    """As :func:`pacbench.kernels.mean_field.mean_field_step`, where :func:`can_fuse`."""
    step: Tensor = fused_step(
        unary,
        marginals,
        [term.weight for term in terms],
        [term.kernel for term in terms],
        [term.guide for term in terms],
        [term.compatibility for term in terms],
        [term.dilation for term in terms],
        RESULTS[output],
    )
    return step


@_native.operator("mean_field_step")
def fused_step(
    unary: Tensor,
    marginals: Tensor,
    weights: Sequence[Tensor],
    kernels: Sequence[Tensor | None],
    guides: Sequence[Tensor | None],
    compatibilities: Sequence[Tensor | None],
    dilations: Sequence[int],
    result: int,
) -> Tensor:
    unary, marginals = unary.contiguous(), marginals.contiguous()
    terms = [
        _Term(Pairwise(*term), marginals)
        for term in zip(weights, kernels, guides, compatibilities, dilations, strict=True)
    ]
    output = torch.empty_like(unary)
    batch, labels, height, width = unary.shape
    whole = (_structs.PacAxis(n, n, 1, 1, 1, 1, 0) for n in (height, width))
    shape = _structs.PacShape(batch, labels, labels, 1, 0, 0, torch.get_num_threads(), *whole)
    structs = (PacPairwise * MAX_TERMS)(*(term.struct for term in terms))
    _native.call(
        "pac_mean_field_step", shape, structs, len(terms), unary, marginals, output, result
    )
    return output


@fused_step.register_fake
def _(
    unary: Tensor,
    marginals: Tensor,
    weights: Sequence[Tensor],
    kernels: Sequence[Tensor | None],
    guides: Sequence[Tensor | None],
    compatibilities: Sequence[Tensor | None],
    dilations: Sequence[int],
    result: int,
) -> Tensor:
    return torch.empty_like(unary, memory_format=torch.contiguous_format)


class _Term:
    """A pairwise term as the library takes it; holds the tensors that the struct points to."""

    def __init__(self, term: Pairwise, marginals: Tensor) -> None:
        self._tensors = [
            None if tensor is None else tensor.contiguous()
            for tensor in (term.kernel, term.weight, term.compatibility)
        ]
        kernel, weight, compatibility = (
            None if tensor is None else tensor.data_ptr() for tensor in self._tensors
        )
        self._guide = (
            None
            if term.guide is None
            else ops_kernel.Guide(term.guide, term.guide, None, None, False, term.window)
        )
        potts = compatibility is None and not is_dense(term.weight)
        y, x = _structs.axes(term.window, marginals.shape[2:])
        guide = None if self._guide is None else ctypes.pointer(self._guide.struct)
        self.struct = PacPairwise(kernel, guide, weight, compatibility, potts, y, x)
