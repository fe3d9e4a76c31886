"""PAC under autocast: reduced-precision inputs are taken, the arithmetic stays in float32."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import torch
from torch import Tensor

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_REDUCED = (torch.bfloat16, torch.float16)


def float32_under_autocast(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Where autocast is on, ``function`` gets float32 tensors and runs with autocast off.

    K spans many orders of magnitude and a window sums hundreds of products, so PAC belongs with
    the operators that autocast keeps in float32; the result is float32, as theirs is.
    """

    @functools.wraps(function)
    def wrapper(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        tensors = [a for a in (*args, *kwargs.values()) if isinstance(a, Tensor)]
        device = tensors[0].device.type if tensors else "cpu"
        if not torch.is_autocast_enabled(device):
            return function(*args, **kwargs)
        with torch.autocast(device, enabled=False):
            return function(
                *(_widened(a) for a in args), **{k: _widened(a) for k, a in kwargs.items()}
            )

    return wrapper


def _widened(argument: Any) -> Any:
    if isinstance(argument, Tensor) and argument.dtype in _REDUCED:
        return argument.float()
    if isinstance(argument, tuple) and hasattr(argument, "_make"):  # a NamedTuple
        return argument._make(map(_widened, argument))
    if isinstance(argument, (list, tuple)):
        return type(argument)(map(_widened, argument))
    return argument
