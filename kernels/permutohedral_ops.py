"""The permutohedral lattice as native operators: same functions as the reference has.

They trust their arguments, which :mod:`pacbench.kernels.permutohedral` checks first.
"""
# ruff: noqa: ARG001 - a fake has the arguments of its operator

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pacbench.kernels import _native
from pacbench.kernels._library import Argument
from pacbench.kernels.permutohedral_reference import check_range
from pacbench.kernels.permutohedral_taps import opposite

_SUFFIX = {torch.float32: "f32", torch.float64: "f64"}


class PacLattice(ctypes.Structure):
    _fields_ = [
        *(
            (name, ctypes.c_int64)
            for name in ("batch", "pixels", "dimensions", "points", "n_threads")
        ),
        *(
            (name, ctypes.c_void_p)
            for name in ("corners", "barycentric", "starts", "splat_pixels", "splat_weights")
        ),
    ]


class Lattice(NamedTuple):
    """The reference's lattice, and the same the other way round: the pixels around each point.

    Attributes:
        keys: (M, D + 1), as the reference's.
        corners: (P, D + 1), as the reference's.
        barycentric: (P, D + 1), as the reference's.
        starts: (M + 1,) the list of point m has entries starts[m] to starts[m + 1] of the next two.
        splat_pixels: (P·(D + 1),) pixels that have the point as a corner.
        splat_weights: (P·(D + 1),) their barycentric weight there.
    """

    keys: Tensor
    corners: Tensor
    barycentric: Tensor
    starts: Tensor
    splat_pixels: Tensor
    splat_weights: Tensor

    def struct(self, batch: int) -> PacLattice:
        pixels, corners = self.corners.shape
        return PacLattice(
            batch,
            pixels // max(batch, 1),
            corners - 1,
            len(self.keys),
            torch.get_num_threads(),
            *(tensor.data_ptr() for tensor in self[1:]),
        )


def build(features: Tensor) -> Lattice:
    return Lattice(*_build(features))


def scaled(lattice: Lattice, factor: Tensor) -> Lattice:
    return lattice._replace(
        barycentric=lattice.barycentric * factor[:, None],
        splat_weights=lattice.splat_weights * factor[lattice.splat_pixels],
    )


def neighbours(lattice: Lattice, offsets: Tensor) -> Tensor:
    return _neighbours(lattice.keys, offsets.to(torch.int32))


def blur(values: Tensor, lattice: Lattice, axes: Tensor, scale: float) -> Tensor:
    return _blur(values, *lattice, axes, scale, False)


def convolve(values: Tensor, weight: Tensor, lattice: Lattice, taps: Tensor) -> Tensor:
    return _convolve(values, weight.expand(values.shape[1], -1), *lattice, taps)


def _call(function: str, *arguments: Argument) -> None:
    """Calls a function of the library for CPUs."""
    if _native.library is None:
        raise RuntimeError(f"{function}: {_native.why_missing}")
    _native.library.run(function, *arguments)


@torch.library.custom_op("pacbench::lattice_build", mutates_args=(), device_types="cpu")
def _build(features: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    check_range(features)
    features = features.contiguous()
    batch, dimensions, height, width = features.shape
    pixels, size = batch * height * width, dimensions + 1

    def integers(*shape: int) -> Tensor:
        return torch.empty(shape, dtype=torch.int32)

    # Room for the most points there can be; memory that is not written to is never really taken.
    lattice = Lattice(
        integers(pixels * size, size),
        integers(pixels, size),
        features.new_empty(pixels, size),
        integers(pixels * size + 1),
        integers(pixels * size),
        features.new_empty(pixels * size),
    )
    struct = lattice.struct(batch)
    _call(f"pac_lattice_build_{_SUFFIX[features.dtype]}", struct, features, lattice.keys)
    points = int(struct.points)
    return (
        lattice.keys[:points].clone(),
        lattice.corners,
        lattice.barycentric,
        lattice.starts[: points + 1].clone(),
        lattice.splat_pixels,
        lattice.splat_weights,
    )


@_build.register_fake
def _(features: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    batch, dimensions, height, width = features.shape
    pixels, size = batch * height * width, dimensions + 1
    points = torch.library.get_ctx().new_dynamic_size()
    integers = features.new_empty(0, dtype=torch.int32)
    return (
        integers.new_empty(points, size),
        integers.new_empty(pixels, size),
        features.new_empty(pixels, size),
        integers.new_empty(points + 1),
        integers.new_empty(pixels * size),
        features.new_empty(pixels * size),
    )


@torch.library.custom_op("pacbench::lattice_neighbours", mutates_args=(), device_types="cpu")
def _neighbours(keys: Tensor, offsets: Tensor) -> Tensor:
    points, size = keys.shape
    keys, offsets = keys.contiguous(), offsets.contiguous()
    found = keys.new_empty(len(offsets), points, 2)
    threads = torch.get_num_threads()
    _call("pac_lattice_neighbours", size - 1, points, keys, len(offsets), offsets, threads, found)
    return found


@_neighbours.register_fake
def _(keys: Tensor, offsets: Tensor) -> Tensor:
    return keys.new_empty(offsets.shape[0], keys.shape[0], 2)


@torch.library.custom_op("pacbench::lattice_blur", mutates_args=(), device_types="cpu")
def _blur(
    values: Tensor,
    keys: Tensor,
    corners: Tensor,
    barycentric: Tensor,
    starts: Tensor,
    splat_pixels: Tensor,
    splat_weights: Tensor,
    axes: Tensor,
    scale: float,
    transposed: bool,
) -> Tensor:
    values = values.contiguous()
    output = torch.empty_like(values)
    lattice = Lattice(keys, corners, barycentric, starts, splat_pixels, splat_weights)
    _call(
        f"pac_lattice_blur_{_SUFFIX[values.dtype]}",
        lattice.struct(len(values)),
        values.shape[1],
        values,
        axes,
        transposed,
        values.new_tensor(scale),
        output,
    )
    return output


@torch.library.custom_op("pacbench::lattice_convolve", mutates_args=(), device_types="cpu")
def _convolve(
    values: Tensor,
    weight: Tensor,
    keys: Tensor,
    corners: Tensor,
    barycentric: Tensor,
    starts: Tensor,
    splat_pixels: Tensor,
    splat_weights: Tensor,
    taps: Tensor,
) -> Tensor:
    values, weight = values.contiguous(), weight.contiguous()
    output = torch.empty_like(values)
    lattice = Lattice(keys, corners, barycentric, starts, splat_pixels, splat_weights)
    _call(
        f"pac_lattice_convolve_{_SUFFIX[values.dtype]}",
        lattice.struct(len(values)),
        values.shape[1],
        values,
        taps,
        len(taps),
        weight,
        output,
    )
    return output


@torch.library.custom_op("pacbench::lattice_grad_weight", mutates_args=(), device_types="cpu")
def _grad_weight(
    values: Tensor,
    grad_output: Tensor,
    keys: Tensor,
    corners: Tensor,
    barycentric: Tensor,
    starts: Tensor,
    splat_pixels: Tensor,
    splat_weights: Tensor,
    taps: Tensor,
) -> Tensor:
    """Gradient of the filter (C, taps)."""
    values, grad_output = values.contiguous(), grad_output.contiguous()
    grad_weight = values.new_empty(values.shape[1], 1 + 2 * len(taps))
    lattice = Lattice(keys, corners, barycentric, starts, splat_pixels, splat_weights)
    _call(
        f"pac_lattice_grad_weight_{_SUFFIX[values.dtype]}",
        lattice.struct(len(values)),
        values.shape[1],
        values,
        grad_output,
        taps,
        len(taps),
        grad_weight,
    )
    return grad_weight


@_blur.register_fake
def _(values: Tensor, *lattice: Any) -> Tensor:
    return torch.empty_like(values, memory_format=torch.contiguous_format)


@_convolve.register_fake
def _(values: Tensor, weight: Tensor, *lattice: Any) -> Tensor:
    return torch.empty_like(values, memory_format=torch.contiguous_format)


@_grad_weight.register_fake
def _(values: Tensor, grad_output: Tensor, *lattice: Any) -> Tensor:
    return values.new_empty(values.shape[1], 1 + 2 * lattice[-1].shape[0])


def _save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*(i for i in inputs if isinstance(i, Tensor)))
    ctx.options = [i for i in inputs if not isinstance(i, Tensor)]


def _blur_backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
    _, *lattice = ctx.saved_tensors
    scale, transposed = ctx.options
    return _blur(grad_output, *lattice, scale, not transposed), *[None] * (len(lattice) + 2)


def _convolve_backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
    values, weight, *lattice = ctx.saved_tensors
    by_values, by_weight = ctx.needs_input_grad[:2]
    return (
        _convolve(grad_output, opposite(weight), *lattice) if by_values else None,
        _grad_weight(values, grad_output, *lattice) if by_weight else None,
        *[None] * len(lattice),
    )


def _grad_weight_backward(ctx: Any, weight: Tensor) -> tuple[Tensor | None, ...]:
    values, grad_output, *lattice = ctx.saved_tensors
    return (
        _convolve(grad_output, opposite(weight), *lattice),
        _convolve(values, weight, *lattice),
        *[None] * len(lattice),
    )


_blur.register_autograd(_blur_backward, setup_context=_save)
_convolve.register_autograd(_convolve_backward, setup_context=_save)
_grad_weight.register_autograd(_grad_weight_backward, setup_context=_save)
