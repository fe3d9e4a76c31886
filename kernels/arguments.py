"""What the PAC operators accept: every argument is checked here, before any backend sees it.

Each message names the argument, what it is and what was expected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor

Pair = tuple[int, int]


def int_pair(name: str, value: int | Sequence[int], least: int) -> Pair:
    """``3`` or ``(3, 5)`` as a pair of ints, each at least ``least``."""
    values = (value, value) if not isinstance(value, Sequence) else tuple(value)
    if len(values) != 2 or any(isinstance(v, (float, str)) for v in values):
        raise ValueError(f"{name} is {value!r}; expected an int or a pair of ints")
    if values[0] < least or values[1] < least:
        raise ValueError(f"{name} is {value!r}; expected at least {least}")
    return values[0], values[1]


class Window(NamedTuple):
    """Where the taps of an operator lie: checked pairs (vertical, horizontal)."""

    kernel_size: Pair
    stride: Pair
    padding: Pair
    dilation: Pair
    output_padding: Pair = (0, 0)
    transposed: bool = False

    @classmethod
    def of(
        cls,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int],
        padding: int | Sequence[int],
        dilation: int | Sequence[int],
        output_padding: int | Sequence[int] = 0,
        *,
        transposed: bool = False,
    ) -> Window:
        window = cls(
            int_pair("kernel_size", kernel_size, 1),
            int_pair("stride", stride, 1),
            int_pair("padding", padding, 0),
            int_pair("dilation", dilation, 1),
            int_pair("output_padding", output_padding, 0),
            transposed,
        )
        if any(k % 2 == 0 for k in window.kernel_size):
            raise ValueError(
                f"kernel_size is {window.kernel_size}; expected odd sizes, since K compares each "
                "tap with the window's middle pixel"
            )
        for extra, s, d in zip(window.output_padding, window.stride, window.dilation, strict=True):
            if extra >= max(s, d):
                raise ValueError(
                    f"output_padding is {window.output_padding}; expected less than stride "
                    f"{window.stride} or dilation {window.dilation}"
                )
        return window

    def flat(self) -> list[int]:
        """As one list of ints, which is what a torch operator can take."""
        return [n for pair in self[:5] for n in pair] + [int(self.transposed)]

    @classmethod
    def from_flat(cls, flat: Sequence[int]) -> Window:
        size, stride, padding, dilation, extra = ((flat[i], flat[i + 1]) for i in range(0, 10, 2))
        return cls(size, stride, padding, dilation, extra, bool(flat[10]))

    def output_size(self, input_size: Sequence[int]) -> Pair:
        """The output's (height, width), torch's formula; ValueError where nothing is left."""
        rows, columns = (
            (n - 1) * s - 2 * p + d * (k - 1) + extra + 1
            if self.transposed
            else (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, k, s, p, d, extra in zip(input_size, *self[:5], strict=True)
        )
        if rows < 1 or columns < 1:
            raise ValueError(
                f"input of size {tuple(input_size)} with kernel_size {self.kernel_size}, padding "
                f"{self.padding} and dilation {self.dilation} gives an output of size "
                f"({rows}, {columns}); expected at least (1, 1)"
            )
        return rows, columns


def same_kind(**tensors: Tensor | None) -> None:
    """All given tensors are floating point, of one dtype, on one device."""
    given = [(name, tensor) for name, tensor in tensors.items() if tensor is not None]
    first_name, first = given[0]
    for name, tensor in given:
        if not tensor.dtype.is_floating_point:
            raise ValueError(f"{name} has dtype {tensor.dtype}; expected a floating point dtype")
        if tensor.dtype != first.dtype:
            raise ValueError(
                f"{name} has dtype {tensor.dtype}; expected {first.dtype}, the dtype of "
                f"{first_name}"
            )
        if tensor.device != first.device:
            raise ValueError(
                f"{name} is on {tensor.device}; expected {first.device}, the device of {first_name}"
            )


def has_shape(name: str, tensor: Tensor, *allowed: tuple[int | None, ...]) -> None:
    """``tensor`` has one of the allowed shapes; None stands for any size from 1."""
    shape = tuple(tensor.shape)
    for pattern in allowed:
        if len(pattern) == len(shape) and all(
            n >= 1 if wanted is None else n == wanted
            for n, wanted in zip(shape, pattern, strict=True)
        ):
            return
    options = " or ".join(
        "(" + ", ".join("any" if n is None else str(n) for n in pattern) + ")"
        for pattern in allowed
    )
    raise ValueError(f"{name} has shape {shape}; expected {options}")


def images(name: str, tensor: Tensor) -> None:
    """``tensor`` is (B, C, H, W), with no empty axis but the batch."""
    shape = tuple(tensor.shape)
    if len(shape) != 4 or shape[1] < 1 or shape[2] < 1 or shape[3] < 1:
        raise ValueError(
            f"{name} has shape {shape}; expected (batch, channels, height, width), no axis empty"
        )


def filters(input: Tensor, weight: Tensor, bias: Tensor | None, transposed: bool) -> int:  # noqa: A002
    """Checks (O, C, kh, kw) filters, (C, O, kh, kw) if transposed, or shared; returns O."""
    channels = input.shape[1]
    size = tuple(weight.shape[2:])
    dense = (channels, None, *size) if transposed else (None, channels, *size)
    if weight.dim() != 4:
        raise ValueError(f"weight has shape {tuple(weight.shape)}; expected 4 axes")
    has_shape("weight", weight, dense, (1, 1, *size))
    shared = tuple(weight.shape[:2]) == (1, 1)
    outputs = channels if shared else weight.shape[1 if transposed else 0]
    if bias is not None:
        has_shape("bias", bias, (outputs,))
    return outputs


def guide_features(
    guide: Tensor,
    output_size: Pair,
    kernel_type: str,
    inv_alpha: Tensor | None,
    inv_lambda: Tensor | None,
    centre: Tensor | None,
    channel_wise: bool,
) -> None:
    """The options of the adapting kernel, and ``centre`` (B, C, Ho, Wo)."""
    if kernel_type not in ("gaussian", "inv"):
        raise ValueError(f"kernel_type is '{kernel_type}'; expected 'gaussian' or 'inv'")
    for name, value in (("inv_alpha", inv_alpha), ("inv_lambda", inv_lambda)):
        if (value is None) == (kernel_type == "inv"):
            raise ValueError(
                f"{name} is {'missing' if value is None else 'given'}; kernel_type "
                f"'{kernel_type}' {'needs it' if value is None else 'has no such parameter'}"
            )
        allowed = (1, guide.shape[1]) if channel_wise else (1,)
        if value is not None and value.numel() not in allowed:
            raise ValueError(
                f"{name} has shape {tuple(value.shape)}; expected "
                f"{' or '.join(map(str, allowed))} value(s)"
            )
    if centre is not None:
        has_shape("centre", centre, (guide.shape[0], guide.shape[1], *output_size))
