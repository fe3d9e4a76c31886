"""One step of mean-field inference in a CRF whose messages are pixel-adaptive convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from torch import Tensor

from pacbench.errors import did_you_mean
from pacbench.kernels import arguments as check
from pacbench.kernels import mean_field_ops, mean_field_reference, ops
from pacbench.kernels.autocast import float32_under_autocast
from pacbench.kernels.backend import choose
from pacbench.kernels.mean_field_reference import Pairwise, is_dense

StepOutput = Literal["log_Q", "softmax", "log_softmax"]
STEP_OUTPUTS: tuple[str, ...] = get_args(StepOutput)


@float32_under_autocast
def mean_field_step(
    unary: Tensor,
    marginals: Tensor,
    terms: Sequence[Pairwise],
    output: StepOutput = "log_Q",
    *,
    backend: str | None = None,
) -> Tensor:
    """log Q' = unary − messages of all terms under Q, all (B, L, H, W).

    On a CUDA device and where no gradient is asked for, this is one pass over the image that stores
    no messages.

    Args:
        unary: −ψ_u.
        marginals: Q.
        terms: the pairwise terms, their weights multiplied in.
        output: ``log_Q`` (not normalised), ``softmax`` (Q') or ``log_softmax``.
        backend: 'reference', 'native' or 'auto'; None is the process's (``set_backend``).
    """
    check.images("unary", unary)
    check.has_shape("marginals", marginals, tuple(unary.shape))
    if output not in STEP_OUTPUTS:
        near = did_you_mean(output, STEP_OUTPUTS)
        raise ValueError(f"output is '{output}'; allowed: {', '.join(STEP_OUTPUTS)}{near}")
    tensors: dict[str, Tensor | None] = {"unary": unary, "marginals": marginals}
    for index, term in enumerate(terms):
        _check(f"terms[{index}]", term, unary)
        tensors |= {f"terms[{index}].{name}": getattr(term, name) for name in term._fields[:4]}
    check.same_kind(**tensors)
    module = choose(backend, tensors.values())
    if module is ops and mean_field_ops.can_fuse(list(tensors.values()), len(terms)):
        return mean_field_ops.mean_field_step(unary, marginals, terms, output)
    return mean_field_reference.mean_field_step(unary, marginals, terms, output, module)


def _check(name: str, term: Pairwise, unary: Tensor) -> None:
    batch, labels, height, width = unary.shape
    check.has_shape(f"{name}.weight", term.weight, (labels, labels, None, None), (1, 1, None, None))
    size = tuple(term.weight.shape[2:])
    if size[0] % 2 == 0 or size[1] % 2 == 0:
        raise ValueError(f"{name}.weight has {size} taps; expected odd numbers")
    if term.kernel is not None:
        check.has_shape(f"{name}.kernel", term.kernel, (batch, 1, *size, height, width))
    if term.guide is not None:
        check.has_shape(f"{name}.guide", term.guide, (batch, None, height, width))
        if term.kernel is not None:
            raise ValueError(f"{name} has a kernel and a guide; expected one of them")
    if term.compatibility is not None:
        check.has_shape(f"{name}.compatibility", term.compatibility, (labels, labels))
        if is_dense(term.weight):
            raise ValueError(
                f"{name} has a compatibility and a weight of shape {tuple(term.weight.shape)}; "
                "expected a weight for all labels, (1, 1, kh, kw), beside it"
            )
