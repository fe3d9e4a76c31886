"""Autograd for the derivatives of one form that is linear in each of its four arguments.

PAC with K given is the derivative by ``output`` of

    S(input, kernel, weight, output) = Σ_i output_i · Σ_j K_ij W[p_i − p_j] input_j,

and its gradients are the derivatives of S by the other three arguments. The gradient of any of the
four is again one of them, with the incoming gradient in the place of the argument it derives by. So
each can be differentiated, as often as one likes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from torch import Tensor

Role = Literal["input", "kernel", "weight", "output"]
# The derivative of S by a role, at its four arguments (weight may be None) and a window.
Derivative = Callable[[Role, dict[Role, Tensor], Sequence[int]], Tensor]


def register(operator: Any, by: Role, roles: Sequence[Role], derivative: Derivative) -> None:
    """Makes ``operator``, the derivative of S ``by`` one role, differentiable.

    It takes tensors in the order of ``roles``, then the window, then anything else; an argument
    ``bias``, added to each output pixel, may come last.
    """

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:  # noqa: ARG001
        ctx.save_for_backward(*inputs[:3])
        ctx.window = inputs[3]

    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        needed = ctx.needs_input_grad
        arguments = dict(zip(roles, ctx.saved_tensors, strict=True)) | {by: gradient}
        gradients = [
            derivative(role, arguments, ctx.window) if need else None
            for role, need in zip(roles, needed, strict=False)
        ]
        others: list[Tensor | None] = [None] * (len(needed) - 3)
        if needed[-1]:
            others[-1] = gradient.sum((0, 2, 3))
        return *gradients, *others

    operator.register_autograd(backward, setup_context=setup_context)
