"""The structs of the C interface, as csrc/pac.h declares them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from pacbench.kernels.arguments import Window


class PacAxis(ctypes.Structure):
    """One image axis: input · up = output · down + tap · dilation - pad."""

    _fields_ = [
        (name, ctypes.c_int64)
        for name in ("input", "output", "taps", "up", "down", "dilation", "pad")
    ]


class PacShape(ctypes.Structure):
    _fields_ = [
        *(
            (name, ctypes.c_int64)
            for name in (
                "batch",
                "in_channels",
                "out_channels",
                "kernel_channels",
                "weight_out_stride",
                "weight_in_stride",
                "n_threads",
            )
        ),
        ("y", PacAxis),
        ("x", PacAxis),
    ]


class PacGuide(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("guide", "centre", "inv_alpha", "inv_lambda")),
        *((name, ctypes.c_int64) for name in ("channels", "inv", "asym")),
        ("y", PacAxis),
        ("x", PacAxis),
    ]


def axes(window: Window, input_size: Sequence[int]) -> tuple[PacAxis, PacAxis]:
    """The two axes (vertical, horizontal) of an operator with these taps on such an input."""
    y, x = (
        PacAxis(n, out, k, s, 1, d, d * (k - 1) - p)
        if window.transposed
        else PacAxis(n, out, k, 1, s, d, p)
        for n, out, k, s, p, d in zip(
            input_size, window.output_size(input_size), *window[:4], strict=True
        )
    )
    return y, x
