"""Unaries for the CRF task: (L, H, W) logits per sample, from noise, a network or files.

Every source is a pydantic model with a ``name``, so that it stands under ``unary:`` in a dataset's
parameters, has a ``protocol`` for the records, and one method::

    logits(sample, classes, seed) -> (classes, H, W) float32
"""

from pacbench.data.unary.noise import NoiseUnary

Unary = NoiseUnary

__all__ = ["NoiseUnary", "Unary"]
