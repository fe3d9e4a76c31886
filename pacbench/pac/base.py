"""What the PAC layers have in common: a window, its adapting kernel and, for two, filters."""

from __future__ import annotations

from typing import TypedDict

import torch
from torch import Tensor, nn

from pacbench.kernels.arguments import Window
from pacbench.kernels.functional import Size
from pacbench.pac import init
from pacbench.pac.functional import packernel2d
from pacbench.pac.kernel_types import parse_kernel_type, parse_smooth_kernel_type

LayerOutput = Tensor | tuple[Tensor, Tensor]


class Factory(TypedDict):
    """Where and of what dtype parameters are made; None is torch's default."""

    device: torch.device | str | None
    dtype: torch.dtype | None


class AdaptingArguments(TypedDict):
    """Keywords of the fused functions that a layer's own kernel stands for."""

    kernel_type: str
    inv_alpha: Tensor | None
    inv_lambda: Tensor | None
    smooth_kernel: Tensor | None
    backend: str


class PacLayer(nn.Module):
    """A PAC layer without filters; ``_filter`` and ``_filter_fused`` are what a layer adds."""

    transposed = False
    inv_alpha: Tensor | None
    inv_lambda: Tensor | None
    smooth_kernel: Tensor | None

    def __init__(self, native_impl: bool, backend: str) -> None:
        super().__init__()
        self.native_impl = native_impl
        self.backend = backend

    def _set_window(
        self, kernel_size: Size, stride: Size, padding: Size, dilation: Size, output_padding: Size
    ) -> None:
        window = Window.of(
            kernel_size, stride, padding, dilation, output_padding, transposed=self.transposed
        )
        self.kernel_size = window.kernel_size
        self.stride = window.stride
        self.padding = window.padding
        self.dilation = window.dilation
        self.output_padding = window.output_padding

    def _set_adapting_kernel(
        self,
        kernel_type: str,
        smooth_kernel_type: str,
        channel_wise: bool,
        normalize_kernel: bool,
        channels: int,
        factory: Factory,
    ) -> None:
        """Registers inv_alpha, inv_lambda and smooth_kernel: parameters, buffers or None."""
        self.kernel_type = kernel_type
        self.smooth_kernel_type = smooth_kernel_type
        self.channel_wise = channel_wise
        self.normalize_kernel = normalize_kernel
        parsed = parse_kernel_type(kernel_type)
        per_channel = channel_wise and not parsed.fixed
        inverse = parsed.family == "inv"
        if inverse and per_channel and channels <= 0:
            raise ValueError(
                f"out_channels is {channels}; a channel_wise '{kernel_type}' learns one alpha and "
                "lambda per channel, so it needs their number (or the suffix _fixed)"
            )
        shape = (channels,) if per_channel else ()
        for name, value in (("inv_alpha", parsed.inv_alpha), ("inv_lambda", parsed.inv_lambda)):
            initial = torch.full(shape, value, **factory) if inverse else None
            self._register(name, initial, learned=not parsed.fixed)
        smooth = parse_smooth_kernel_type(smooth_kernel_type)
        initial = None if smooth.family == "none" else smooth.initial_filter().to(**factory)
        self._register("smooth_kernel", initial, learned=smooth.learned)

    def _register(self, name: str, initial: Tensor | None, *, learned: bool) -> None:
        if initial is not None and learned:
            self.register_parameter(name, nn.Parameter(initial))
        else:
            self.register_buffer(name, initial)

    def reset_parameters(self) -> None:
        """Sets all parameters to their initial values."""
        parsed = parse_kernel_type(self.kernel_type)
        smooth = parse_smooth_kernel_type(self.smooth_kernel_type)
        with torch.no_grad():
            if isinstance(self.inv_alpha, nn.Parameter):
                self.inv_alpha.fill_(parsed.inv_alpha)
            if isinstance(self.inv_lambda, nn.Parameter):
                self.inv_lambda.fill_(parsed.inv_lambda)
            if isinstance(self.smooth_kernel, nn.Parameter):
                self.smooth_kernel.copy_(smooth.initial_filter())

    def compute_kernel(
        self, input_for_kernel: Tensor, input_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """K of the guide, to be passed as ``kernel`` to any number of calls, and its output mask.

        See ``packernel2d`` for the shapes.
        """
        return packernel2d(
            input_for_kernel,
            input_mask,
            kernel_size=self.kernel_size,
            stride=self.stride,
            padding=self.padding,
            output_padding=self.output_padding,
            dilation=self.dilation,
            smooth_kernel_type=self.smooth_kernel_type,
            channel_wise=self.channel_wise,
            normalize_kernel=self.normalize_kernel,
            transposed=self.transposed,
            **self._adapting_arguments(),
        )

    def _adapting_arguments(self) -> AdaptingArguments:
        return {
            "kernel_type": self.kernel_type,
            "inv_alpha": self.inv_alpha,
            "inv_lambda": self.inv_lambda,
            "smooth_kernel": self.smooth_kernel,
            "backend": self.backend,
        }

    def forward(
        self,
        input_2d: Tensor,
        input_for_kernel: Tensor | None,
        kernel: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> LayerOutput:
        """Filters ``input_2d`` (B, C, H, W) as ``input_for_kernel`` (the guide) or ``kernel`` says.

        Args:
            input_2d: v.
            input_for_kernel: the guide f, or None if ``kernel`` is given.
            kernel: K from :meth:`compute_kernel`. The guide and the mask are then not looked at, as
                in the release: K holds both.
            mask: (B, 1, H, W), 1 where ``input_2d`` is valid; see ``packernel2d``.

        Returns:
            The output, or (output, output mask) if a mask was used.
        """
        if kernel is not None:
            return self._filter(input_2d, kernel)
        if input_for_kernel is None:
            raise ValueError("input_for_kernel and kernel are both None; one of them is needed")
        if mask is None and not self.normalize_kernel:
            return self._filter_fused(input_2d, input_for_kernel)
        kernel, output_mask = self.compute_kernel(input_for_kernel, mask)
        output = self._filter(input_2d, kernel)
        return output if output_mask is None else (output, output_mask)

    def _filter(self, input_2d: Tensor, kernel: Tensor) -> Tensor:
        raise NotImplementedError

    def _filter_fused(self, input_2d: Tensor, guide: Tensor) -> Tensor:
        raise NotImplementedError

    def extra_repr(self) -> str:
        shown = [f"kernel_size={self.kernel_size}", f"kernel_type={self.kernel_type}"]
        defaults: dict[str, object] = {
            "stride": (1, 1),
            "padding": (0, 0),
            "dilation": (1, 1),
            "output_padding": (0, 0),
            "smooth_kernel_type": "none",
            "channel_wise": False,
            "normalize_kernel": False,
            "backend": "auto",
        }
        for name, default in defaults.items():
            value = getattr(self, name)
            if value != default:
                shown.append(f"{name}={value}")
        return ", ".join(shown)


class PacFilterLayer(PacLayer):
    """A PAC layer with spatial filters W and a bias."""

    weight: Tensor
    bias: Tensor | None

    def _set_filters(
        self,
        in_channels: int,
        out_channels: int,
        bias: bool,
        shared_filters: bool,
        filler: str,
        factory: Factory,
    ) -> None:
        """Registers weight and bias, before the parameters of K: the release's order.

        Optimizer states count on that order.
        """
        init.check_filler(
            filler, in_channels, out_channels, shared=shared_filters, transposed=self.transposed
        )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.shared_filters = shared_filters
        self.filler = filler
        channels = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        shape = (*((1, 1) if shared_filters else channels), *self.kernel_size)
        self._register(
            "weight", torch.empty(shape, **factory), learned=filler in init.LEARNED_FILLERS
        )
        self.register_parameter(
            "bias", nn.Parameter(torch.empty(out_channels, **factory)) if bias else None
        )

    def reset_parameters(self) -> None:
        super().reset_parameters()
        init.fill_(
            self.weight,
            self.bias,
            self.filler,
            stride=self.stride,
            in_channels=self.in_channels,
            shared=self.shared_filters,
            normalized=self.normalize_kernel,
        )

    def extra_repr(self) -> str:
        shown = f"{self.in_channels}, {self.out_channels}, {super().extra_repr()}"
        if self.bias is None:
            shown += ", bias=False"
        if self.shared_filters:
            shown += ", shared_filters=True"
        return shown
