"""The adapting kernel as a torch operator, and what the library is told of a guide."""
# ruff: noqa: ARG001 - a fake has the arguments of its operator

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pacbench.kernels import _native, _structs
from pacbench.kernels.arguments import Window


class Guide:
    """Features as the library takes them; holds the tensors whose memory the struct points to.

    ``guide`` (B, C, H, W) and ``centre`` (B, C, Ho, Wo); ``inv_alpha`` and ``inv_lambda`` (B,), or
    None for the Gaussian kernel; ``window`` has the taps in the guide.
    """

    def __init__(
        self,
        guide: Tensor,
        centre: Tensor,
        inv_alpha: Tensor | None,
        inv_lambda: Tensor | None,
        asym: bool,
        window: Window,
    ) -> None:
        self._tensors = [
            None if tensor is None else tensor.contiguous()
            for tensor in (guide, centre, inv_alpha, inv_lambda)
        ]
        y, x = _structs.axes(window, guide.shape[2:])
        self.struct = _structs.PacGuide(
            *(None if tensor is None else tensor.data_ptr() for tensor in self._tensors),
            guide.shape[1],
            inv_alpha is not None,
            asym,
            y,
            x,
        )
        batch, threads = guide.shape[0], torch.get_num_threads()
        self.shape = _structs.PacShape(batch, 0, 0, 1, 0, 0, threads, y, x)


@_native.operator("adapting_kernel")
def adapting_kernel(
    guide: Tensor,
    centre: Tensor,
    inv_alpha: Tensor | None,
    inv_lambda: Tensor | None,
    asym: bool,
    window: Sequence[int],
) -> Tensor:
    features = Guide(guide, centre, inv_alpha, inv_lambda, asym, Window.from_flat(window))
    kernel = _empty_kernel(guide, centre, window)
    _native.call("pac_adapting_kernel", features.shape, features.struct, kernel)
    return kernel


@_native.operator("adapting_kernel_grad")
def adapting_kernel_grad(
    guide: Tensor,
    centre: Tensor,
    inv_alpha: Tensor | None,
    inv_lambda: Tensor | None,
    grad_kernel: Tensor,
    asym: bool,
    window: Sequence[int],
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of guide, centre and inv_lambda, the last one as sums over output rows (B, Ho)."""
    features = Guide(guide, centre, inv_alpha, inv_lambda, asym, Window.from_flat(window))
    gradients = _empty_gradients(guide, centre)
    _native.call(
        "pac_adapting_kernel_grad",
        features.shape,
        features.struct,
        grad_kernel.contiguous(),
        *gradients,
    )
    return gradients


def _empty_kernel(guide: Tensor, centre: Tensor, window: Sequence[int]) -> Tensor:
    taps = Window.from_flat(window).kernel_size
    return guide.new_empty(guide.shape[0], 1, *taps, *centre.shape[2:])


def _sum_dtype(dtype: torch.dtype) -> torch.dtype:
    return torch.promote_types(dtype, torch.float32)


def _empty_gradients(guide: Tensor, centre: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    rows = guide.new_empty(guide.shape[0], centre.shape[2], dtype=_sum_dtype(guide.dtype))
    return guide.new_empty(guide.shape), guide.new_empty(centre.shape), rows


@adapting_kernel.register_fake
def _(
    guide: Tensor,
    centre: Tensor,
    inv_alpha: Tensor | None,
    inv_lambda: Tensor | None,
    asym: bool,
    window: Sequence[int],
) -> Tensor:
    return _empty_kernel(guide, centre, window)


@adapting_kernel_grad.register_fake
def _(
    guide: Tensor,
    centre: Tensor,
    inv_alpha: Tensor | None,
    inv_lambda: Tensor | None,
    grad_kernel: Tensor,
    asym: bool,
    window: Sequence[int],
) -> tuple[Tensor, Tensor, Tensor]:
    return _empty_gradients(guide, centre)


def gradients(
    features: Sequence[Any], grad_kernel: Tensor, asym: bool, window: Sequence[int]
) -> tuple[Tensor | None, ...]:
    """Gradients of (guide, centre, inv_alpha, inv_lambda), the last two None if not used."""
    guide, centre, rows = adapting_kernel_grad(*features, grad_kernel, asym, window)
    if features[2] is None:
        return guide, centre, None, None
    return guide, centre, grad_kernel.sum((1, 2, 3, 4, 5)), rows.sum(1).to(guide.dtype)


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[:4])
    ctx.options = inputs[4:]


def _backward(ctx: Any, grad_kernel: Tensor) -> tuple[Tensor | None, ...]:
    return *gradients(ctx.saved_tensors, grad_kernel, *ctx.options), None, None


def _no_second_derivative(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
    raise NotImplementedError(
        "the native adapting kernel has no second derivative (by guide, inv_alpha or inv_lambda); "
        "use backend='reference' where you differentiate twice"
    )


adapting_kernel.register_autograd(_backward, setup_context=_setup_context)
adapting_kernel_grad.register_autograd(_no_second_derivative)
