"""Wrong arguments: a ValueError that names the argument, what it is and what was expected."""
# ruff: noqa: E501 - one line per case

from __future__ import annotations

from typing import Any

import pytest
import torch

from pacbench import kernels

B, C, OUT, H, W = 2, 3, 4, 8, 9
ONE = torch.ones(1)


def conv(**changes: Any) -> None:
    arguments = {
        "input": torch.randn(B, C, H, W),
        "kernel": torch.rand(B, 1, 3, 3, H, W),
        "weight": torch.randn(OUT, C, 3, 3),
        "bias": torch.randn(OUT),
        "padding": 1,
    }
    kernels.pacconv2d(**(arguments | changes))


def fused(**changes: Any) -> None:
    arguments = {
        "input": torch.randn(B, C, H, W),
        "guide": torch.randn(B, 2, H, W),
        "weight": torch.randn(OUT, C, 3, 3),
        "padding": 1,
    }
    kernels.pac_conv2d(**(arguments | changes))


def transposed(**changes: Any) -> None:
    arguments = {
        "input": torch.randn(B, C, H, W),
        "guide": torch.randn(B, 2, 2 * H, 2 * W),
        "weight": torch.randn(C, OUT, 5, 5),
        "stride": 2,
        "padding": 2,
        "output_padding": 1,
    }
    kernels.pac_conv_transpose2d(**(arguments | changes))


def pool(**changes: Any) -> None:
    arguments = {
        "input": torch.randn(B, C, H, W),
        "guide": torch.randn(B, C, H, W),
        "kernel_size": 3,
        "padding": 1,
    }
    kernels.pac_pool2d(**(arguments | changes))


INV = {"kernel_type": "inv", "inv_alpha": ONE, "inv_lambda": ONE}
# fmt: off
WRONG = [
    (conv, {"input": torch.randn(C, H, W)}, r"input has shape \(3, 8, 9\); expected \(batch"),
    (conv, {"input": torch.randn(B, C, 0, W)}, r"input has shape .*no axis empty"),
    (conv, {"weight": torch.randn(OUT, C + 1, 3, 3)}, r"weight has shape \(4, 4, 3, 3\); expected \(any, 3"),
    (conv, {"weight": torch.randn(OUT, C, 3)}, r"weight has shape \(4, 3, 3\); expected 4 axes"),
    (conv, {"weight": torch.randn(OUT, C, 4, 4)}, r"kernel_size is \(4, 4\); expected odd sizes"),
    (conv, {"bias": torch.randn(OUT + 1)}, r"bias has shape \(5,\); expected \(4\)"),
    (conv, {"kernel": torch.rand(B, 2, 3, 3, H, W)}, r"kernel has shape \(2, 2,.*expected \(2, 1, 3, 3, 8, 9\) or \(2, 3"),
    (conv, {"kernel": torch.rand(B, 1, 3, 3, H, W + 1)}, r"kernel has shape"),
    (conv, {"kernel": torch.rand(1, 1, 3, 3, H, W)}, r"kernel has shape"),
    (conv, {"stride": 0}, r"stride is 0; expected at least 1"),
    (conv, {"padding": (1, -1)}, r"padding is \(1, -1\); expected at least 0"),
    (conv, {"dilation": (1, 1, 1)}, r"dilation is \(1, 1, 1\); expected an int or a pair"),
    (conv, {"dilation": 1.5}, r"dilation is 1.5; expected an int or a pair"),
    (conv, {"dilation": 9}, r"gives an output of size \(-8, -7\); expected at least \(1, 1\)"),
    (conv, {"weight": torch.randn(OUT, C, 3, 3).double()}, r"weight has dtype torch.float64; expected torch.float32, the dtype of input"),
    (conv, {"input": torch.ones(B, C, H, W, dtype=torch.int64)}, r"input has dtype torch.int64; expected a floating"),
    (conv, {"weight": torch.randn(OUT, C, 3, 3, device="meta")}, r"weight is on meta; expected cpu, the device of input"),
    (conv, {"backend": "nativ"}, r"backend is 'nativ'; allowed: .*did you mean 'native'"),
    (fused, {"guide": torch.randn(B, 2, H - 1, W)}, r"guide has shape \(2, 2, 7, 9\); expected \(2, any, 8, 9\)"),
    (fused, {"guide": torch.randn(1, 2, H, W)}, r"guide has shape \(1, 2, 8, 9\)"),
    (fused, {"kernel_type": "gauss"}, r"kernel_type is 'gauss'; expected 'gaussian' or 'inv'"),
    (fused, {"kernel_type": "inv", "inv_alpha": ONE}, r"inv_lambda is missing; kernel_type 'inv' needs it"),
    (fused, {"inv_alpha": ONE}, r"inv_alpha is given; kernel_type 'gaussian' has no such parameter"),
    (fused, INV | {"inv_alpha": torch.ones(2)}, r"inv_alpha has shape \(2,\); expected 1 value"),
    (fused, {"centre": torch.randn(B, 2, H, W + 2)}, r"centre has shape \(2, 2, 8, 11\); expected \(2, 2, 8, 9\)"),
    (transposed, {"guide": torch.randn(B, 2, H, W)}, r"guide has shape \(2, 2, 8, 9\); expected \(2, any, 16, 18\)"),
    (transposed, {"output_padding": 2}, r"output_padding is \(2, 2\); expected less than stride"),
    (transposed, {"weight": torch.randn(OUT, C, 5, 5)}, r"weight has shape \(4, 3, 5, 5\); expected \(3, any"),
    (pool, {"kernel_size": 2}, r"kernel_size is \(2, 2\); expected odd sizes"),
    (pool, {"guide": torch.randn(B, 2, H, W), "channel_wise": True}, r"guide has shape .*expected \(2, 3, 8, 9\)"),
    (pool, INV | {"inv_alpha": torch.ones(2), "channel_wise": True}, r"inv_alpha has shape \(2,\); expected 1 or 3 value"),
]
# fmt: on


@pytest.mark.parametrize("backend", ["reference", "native"])
@pytest.mark.parametrize(("function", "changes", "message"), WRONG)
def test_refused(function: Any, changes: dict[str, Any], message: str, backend: str) -> None:
    with pytest.raises(ValueError, match=message):
        function(**({"backend": backend} | changes))


@pytest.mark.parametrize("function", [conv, fused, transposed, pool])
def test_unchanged_arguments_are_accepted(function: Any) -> None:
    for backend in ("reference", "native"):
        function(backend=backend)


def test_adapting_kernel_checks_its_guide() -> None:
    with pytest.raises(ValueError, match=r"guide has shape \(3, 4\)"):
        kernels.adapting_kernel(torch.randn(3, 4), 3)
