"""What a hot-swapped convolution is: PAC whose guide comes from another layer of the network."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from pacbench.pac.base import LayerOutput
from pacbench.pac.layers import PacConv2d


class GuideTap:
    """Keeps what a layer gave last, while the model runs, for the layers that it guides.

    An object and not a closure, so that copies of a model have taps of their own.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.features: Tensor | None = None
        self._handles: list[RemovableHandle] = []

    def attach(self, guide: nn.Module, model: nn.Module) -> None:
        self._handles.append(guide.register_forward_hook(self.keep))
        # Or the last batch would stay in memory, and serve a layer that is called too early.
        self._handles.append(model.register_forward_hook(self.forget, always_call=True))

    def detach(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self.features = None

    def keep(self, module: nn.Module, inputs: Any, output: Any) -> None:  # noqa: ARG002, a hook
        if not isinstance(output, Tensor) or output.dim() != 4:
            shown = tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__
            raise ValueError(f"guide '{self.name}' gives {shown}; expected (B, C, H, W)")
        self.features = output.clone()  # a ReLU in place may follow

    def forget(self, module: nn.Module, inputs: Any, output: Any) -> None:  # noqa: ARG002, a hook
        self.features = None


class HotSwappedConv2d(PacConv2d):
    """A PAC layer that is called as the convolution was: its guide comes from elsewhere.

    Args:
        conv: whose weights, window and hooks it takes over.
        name: of the layer, for messages.
        tap: where the guide is found.
        scale, learn_scale, backend: see :func:`hot_swap`.
        near: names of other guides, for the message that this one comes too late.
    """

    guide_scale: Tensor | float

    def __init__(
        self,
        conv: nn.Conv2d,
        name: str,
        tap: GuideTap,
        scale: float,
        learn_scale: bool,
        backend: str,
        near: str,
    ) -> None:
        super().__init__(
            conv.in_channels,
            conv.out_channels,
            _pair(conv.kernel_size),
            _pair(conv.stride),
            _padding_of(conv),
            _pair(conv.dilation),
            bias=conv.bias is not None,
            backend=backend,
            device="meta",
        )
        _take_over(self, conv)
        self.name, self.near = name, near
        self.tap = tap
        if learn_scale:
            weight = conv.weight
            initial = torch.tensor(scale, dtype=weight.dtype, device=weight.device)
            self.guide_scale = nn.Parameter(initial)
        else:
            self.guide_scale = scale

    def forward(
        self,
        input_2d: Tensor,
        input_for_kernel: Tensor | None = None,
        kernel: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> LayerOutput:
        """Filters ``input_2d`` (B, C, H, W), guided by the tapped layer's output."""
        if input_for_kernel is None and kernel is None:
            # Beside hundreds of channels, K is small: stored, it is read faster than made tap by
            # tap among the filters.
            kernel, mask = self.compute_kernel(self._guide_for(input_2d), mask)
            output = self._filter(input_2d, kernel)
            return output if mask is None else (output, mask)
        return super().forward(input_2d, input_for_kernel, kernel, mask)

    def as_conv(self) -> nn.Conv2d:
        """The convolution with this layer's weights and hooks."""
        conv = nn.Conv2d(
            self.in_channels,
            self.out_channels,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            bias=self.bias is not None,
            device="meta",
        )
        _take_over(conv, self)
        return conv

    def _guide_for(self, input_2d: Tensor) -> Tensor:
        guide = self.tap.features
        if guide is None:
            raise ValueError(
                f"layer '{self.name}' was called before its guide '{self.tap.name}' was computed; "
                "swap it with a guide that the model computes earlier; near names that it defines "
                f"earlier: {self.near}"
            )
        if guide.shape[0] != input_2d.shape[0]:
            raise ValueError(
                f"layer '{self.name}' has an input of shape {tuple(input_2d.shape)}, but its guide "
                f"'{self.tap.name}' gave {tuple(guide.shape)}; expected the same batch"
            )
        if guide.shape[2:] != input_2d.shape[2:]:
            guide = F.interpolate(guide, input_2d.shape[2:], mode="bilinear", align_corners=False)
        return guide.to(input_2d.dtype) * self.guide_scale

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """The original's weights have no scale: it then stays as it is."""
        if isinstance(self.guide_scale, Tensor):
            state_dict.setdefault(f"{prefix}guide_scale", self.guide_scale.detach())
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def extra_repr(self) -> str:
        scale = self.guide_scale
        shown = scale.item() if isinstance(scale, Tensor) else scale
        return f"{super().extra_repr()}, guide={self.tap.name}, scale={shown:g}"


def _take_over(new: nn.Conv2d | PacConv2d, old: nn.Conv2d | PacConv2d) -> None:
    """The same parameters, and the same hooks: handles that others hold still remove them."""
    new.weight, new.bias = old.weight, old.bias
    new.train(old.training)
    for name, hooks in vars(old).items():
        if "_hook" in name:
            vars(new)[name] = hooks


def _padding_of(conv: nn.Conv2d) -> tuple[int, int]:
    if conv.padding == "valid":
        return (0, 0)
    if conv.padding == "same":
        height, width = zip(conv.dilation, conv.kernel_size, strict=True)
        return height[0] * (height[1] // 2), width[0] * (width[1] // 2)
    return _pair(conv.padding)


def _pair(values: Any) -> tuple[int, int]:
    first, second = values
    return int(first), int(second)
