"""Maps of several channels, for networks that upsample them one by one with the same guide."""

from __future__ import annotations

from torch import Tensor


def as_images(low: Tensor, guide: Tensor, channels: int) -> Tensor:
    """(B, C, h, w) as the images (B C / channels, channels, h, w) that a network takes.

    Raises:
        ValueError: a C that is no multiple of ``channels``, or a guide that is not (B or 1, …).
    """
    shape = tuple(low.shape)
    if len(shape) != 4 or shape[1] % channels:
        many = "any number of" if channels == 1 else f"a multiple of {channels}"
        raise ValueError(f"low has shape {shape}; expected (B, C, h, w) of {many} channels")
    if guide.dim() != 4 or guide.shape[0] not in (1, shape[0]):
        raise ValueError(
            f"guide has shape {tuple(guide.shape)}; expected ({shape[0]} or 1, C, H, W) for a low "
            f"of shape {shape}"
        )
    return low.reshape(-1, channels, *shape[2:])


def for_each(features: Tensor, images: Tensor) -> Tensor:
    """Features (B or 1, …) of the guide for all images, those of one sample together."""
    return features.repeat_interleave(len(images) // len(features), dim=0)
