"""Pixel-adaptive convolution: the paper's layers, drop-in for code written against its release."""

from pacbench.pac.crf import PacCRF
from pacbench.pac.crf_loose import PacCRFLoose
from pacbench.pac.features import create_position_feats, create_YXRGB
from pacbench.pac.functional import pacconv2d, pacconv_transpose2d, packernel2d, pacpool2d
from pacbench.pac.fused import pac_conv2d, pac_conv_transpose2d, pac_pool2d
from pacbench.pac.guided_crf import ImageGuidedPacCRF
from pacbench.pac.hot_swap import hot_swap, unswap
from pacbench.pac.layers import PacConv2d, PacConvTranspose2d, PacPool2d
from pacbench.pac.upsample import PacJointUpsample, PacJointUpsampleLite

__all__ = [
    "ImageGuidedPacCRF",
    "PacCRF",
    "PacCRFLoose",
    "PacConv2d",
    "PacConvTranspose2d",
    "PacJointUpsample",
    "PacJointUpsampleLite",
    "PacPool2d",
    "create_YXRGB",
    "create_position_feats",
    "hot_swap",
    "pac_conv2d",
    "pac_conv_transpose2d",
    "pac_pool2d",
    "pacconv2d",
    "pacconv_transpose2d",
    "packernel2d",
    "pacpool2d",
    "unswap",
]
