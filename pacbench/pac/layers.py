"""PAC layers, drop-in for those of the paper's release: arguments, defaults, state_dict keys."""

from __future__ import annotations

import torch
from torch import Tensor

from pacbench.kernels.arguments import images
from pacbench.kernels.functional import Size
from pacbench.pac.base import Factory, LayerOutput, PacFilterLayer, PacLayer
from pacbench.pac.functional import pacconv2d, pacconv_transpose2d, pacpool2d
from pacbench.pac.fused import pac_conv2d, pac_conv_transpose2d, pac_pool2d


class PacConv2d(PacFilterLayer):
    """Pixel-adaptive convolution: ``nn.Conv2d`` whose filter is weighted by K(f_i, f_j).

    v'_i = Σ_{j∈Ω(i)} K(f_i, f_j) W[p_i − p_j] v_j + b

    ``layer(input, guide)`` with input (B, C, H, W) and guide (B, any, H, W) gives
    (B, out_channels, Ho, Wo), sized as by ``nn.Conv2d``; see :meth:`forward` for K given and masks.

    Args (beyond those of ``nn.Conv2d``; no groups, no padding modes, odd kernel sizes):
        kernel_type: 'gaussian': K = exp(−|f_i − f_j|² / 2). 'inv_{alpha}_{lambda}[_asym][_fixed]':
            the paper's detail-preserving kernel in the release's form, which differs slightly from
            the paper's text: K = alpha + (|f_i − f_j|² + 1e-4)^(lambda / 2). alpha and lambda are
            learned unless ``_fixed``; ``_asym`` sets negative f_j − f_i to 0 first.
        smooth_kernel_type: what f_i is smoothed with: 'none', 'gaussian' (3×3), 'average_{size}' or
            'full_{size}' (learned).
        normalize_kernel: divide K by its sum over the window's taps inside the image.
        shared_filters: one spatial filter (1, 1, kh, kw) for all channels.
        filler: 'uniform'; for CRFs 'crf', 'crf_perturbed' and, not learned, 'crf_pool', 'pool'.
        native_impl: accepted because the release has it, without effect.
        backend: 'auto', 'native' or 'reference'; see ``pacbench.kernels``.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size = 0,
        dilation: Size = 1,
        bias: bool = True,
        kernel_type: str = "gaussian",
        smooth_kernel_type: str = "none",
        normalize_kernel: bool = False,
        shared_filters: bool = False,
        filler: str = "uniform",
        native_impl: bool = False,
        *,
        backend: str = "auto",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(native_impl, backend)
        factory: Factory = {"device": device, "dtype": dtype}
        self._set_window(kernel_size, stride, padding, dilation, 0)
        self._set_filters(in_channels, out_channels, bias, shared_filters, filler, factory)
        self._set_adapting_kernel(
            kernel_type, smooth_kernel_type, False, normalize_kernel, out_channels, factory
        )
        self.reset_parameters()

    def _filter(self, input_2d: Tensor, kernel: Tensor) -> Tensor:
        return pacconv2d(
            input_2d,
            kernel,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self.dilation,
            self.shared_filters,
            backend=self.backend,
        )

    def _filter_fused(self, input_2d: Tensor, guide: Tensor) -> Tensor:
        return pac_conv2d(
            input_2d,
            guide,
            self.weight,
            self.bias,
            stride=self.stride,
            padding=self.padding,
            dilation=self.dilation,
            **self._adapting_arguments(),
        )


class PacConvTranspose2d(PacFilterLayer):
    """Transposed pixel-adaptive convolution: ``nn.ConvTranspose2d`` weighted by K(f_i, f_j).

    ``layer(input, guide)`` with input (B, C, H, W) and guide (B, any, Ho, Wo), *of the output's
    size*, gives (B, out_channels, Ho, Wo), sized as by ``nn.ConvTranspose2d``.

    The taps of ``weight`` (in_channels, out_channels, kh, kw) lie in the window around the output
    pixel, as in the release, whose weights carry over; those of ``nn.ConvTranspose2d`` lie around
    the input pixel, so a weight taken from there must be flipped: ``weight.flip(2, 3)``.

    Args: those of ``nn.ConvTranspose2d`` (no groups, no padding modes, odd kernel sizes) and of
    :class:`PacConv2d`; ``filler='linear'`` starts as linear interpolation.
    """

    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size = 0,
        output_padding: Size = 0,
        dilation: Size = 1,
        bias: bool = True,
        kernel_type: str = "gaussian",
        smooth_kernel_type: str = "none",
        normalize_kernel: bool = False,
        shared_filters: bool = False,
        filler: str = "uniform",
        native_impl: bool = False,
        *,
        backend: str = "auto",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(native_impl, backend)
        factory: Factory = {"device": device, "dtype": dtype}
        self._set_window(kernel_size, stride, padding, dilation, output_padding)
        self._set_filters(in_channels, out_channels, bias, shared_filters, filler, factory)
        self._set_adapting_kernel(
            kernel_type, smooth_kernel_type, False, normalize_kernel, out_channels, factory
        )
        self.reset_parameters()

    def _filter(self, input_2d: Tensor, kernel: Tensor) -> Tensor:
        return pacconv_transpose2d(
            input_2d,
            kernel,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self.output_padding,
            self.dilation,
            self.shared_filters,
            backend=self.backend,
        )

    def _filter_fused(self, input_2d: Tensor, guide: Tensor) -> Tensor:
        return pac_conv_transpose2d(
            input_2d,
            guide,
            self.weight,
            self.bias,
            stride=self.stride,
            padding=self.padding,
            output_padding=self.output_padding,
            dilation=self.dilation,
            **self._adapting_arguments(),
        )


class PacPool2d(PacLayer):
    """Pixel-adaptive pooling: v'_i = Σ_{j∈Ω(i)} K(f_i, f_j) v_j, channel by channel.

    A sum: ``normalize_kernel=True`` makes it a weighted mean. The stride's default is 1, not the
    kernel size as in ``nn.AvgPool2d``.

    Args: ``kernel_size`` (odd), ``stride``, ``padding``, ``dilation``, and of :class:`PacConv2d`
    ``kernel_type``, ``smooth_kernel_type``, ``normalize_kernel``, ``native_impl``, ``backend``.
        channel_wise: each channel of the guide makes the K of the same channel of the input.
        out_channels: number of channels; needed for a ``channel_wise`` learned 'inv' kernel, else
            checked if given.
    """

    def __init__(
        self,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size = 0,
        dilation: Size = 1,
        kernel_type: str = "gaussian",
        smooth_kernel_type: str = "none",
        channel_wise: bool = False,
        normalize_kernel: bool = False,
        out_channels: int = -1,
        native_impl: bool = False,
        *,
        backend: str = "auto",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(native_impl, backend)
        factory: Factory = {"device": device, "dtype": dtype}
        self.in_channels = -1
        self.out_channels = out_channels
        self._set_window(kernel_size, stride, padding, dilation, 0)
        self._set_adapting_kernel(
            kernel_type, smooth_kernel_type, channel_wise, normalize_kernel, out_channels, factory
        )

    def forward(
        self,
        input_2d: Tensor,
        input_for_kernel: Tensor | None,
        kernel: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> LayerOutput:
        """As :meth:`PacLayer.forward`, after a look at the channels."""
        images("input_2d", input_2d)
        channels = input_2d.shape[1]
        if self.out_channels > 0 and self.out_channels != channels:
            raise ValueError(f"input_2d has {channels} channels; expected {self.out_channels}")
        if self.channel_wise:
            name, maker = ("input_for_kernel", input_for_kernel)
            if kernel is not None:
                name, maker = ("kernel", kernel)
            if maker is not None and tuple(maker.shape[1:2]) != (channels,):
                raise ValueError(
                    f"{name} has shape {tuple(maker.shape)}; with channel_wise it needs the "
                    f"{channels} channels of input_2d"
                )
        return super().forward(input_2d, input_for_kernel, kernel, mask)

    def _filter(self, input_2d: Tensor, kernel: Tensor) -> Tensor:
        return pacpool2d(
            input_2d,
            kernel,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            backend=self.backend,
        )

    def _filter_fused(self, input_2d: Tensor, guide: Tensor) -> Tensor:
        return pac_pool2d(
            input_2d,
            guide,
            self.kernel_size,
            stride=self.stride,
            padding=self.padding,
            dilation=self.dilation,
            channel_wise=self.channel_wise,
            **self._adapting_arguments(),
        )
