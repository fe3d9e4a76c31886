"""Pixel-adaptive convolution: the paper's layers, drop-in for code written against its release."""

from pacbench.pac.functional import pacconv2d, pacconv_transpose2d, packernel2d, pacpool2d
from pacbench.pac.fused import pac_conv2d, pac_conv_transpose2d, pac_pool2d
from pacbench.pac.layers import PacConv2d, PacConvTranspose2d, PacPool2d

__all__ = [
    "PacConv2d",
    "PacConvTranspose2d",
    "PacPool2d",
    "pac_conv2d",
    "pac_conv_transpose2d",
    "pac_pool2d",
    "pacconv2d",
    "pacconv_transpose2d",
    "packernel2d",
    "pacpool2d",
]
