"""CRFs as methods: one step of each against its equation, by loops."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from pacbench.data.base import Sample
from pacbench.method import Context, Method, methods


def sample_of(height: int = 12, width: int = 15, labels: int = 4, shift: float = 0.0) -> Sample:
    random = np.random.default_rng(7)
    return Sample(
        name="a",
        image=random.integers(0, 256, (3, height, width), dtype=np.uint8),
        labels=random.integers(0, labels, (height, width)).astype(np.uint8),
        unary=random.normal(size=(labels, height, width)).astype(np.float32) + np.float32(shift),
    )


def build(name: str, sample: Sample, **params: Any) -> Method:
    cls = methods[name]
    backend = "reference" if "reference" in cls.info.backends else cls.info.backends[0]
    return cls(cls.Params(**params), Context("cpu", backend, 1, 0, sample))


def output_of(name: str, sample: Sample, **params: Any) -> NDArray[Any]:
    with torch.inference_mode():  # as a worker does
        method = build(name, sample, **params)
        return method.finish(method.run(method.prepare(sample)))


def softmax(scores: NDArray[Any]) -> NDArray[Any]:
    exponentials = np.exp(scores - scores.max(axis=0))
    return exponentials / exponentials.sum(axis=0)


def test_unary_returns_the_unaries() -> None:
    sample = sample_of()
    np.testing.assert_array_equal(output_of("unary", sample), sample.unary)


def test_missing_unaries_are_told() -> None:
    sample = sample_of()
    bare = Sample(name="bare", image=sample.image)
    with pytest.raises(ValueError, match="sample 'bare' has no unaries"):
        build("full_crf", sample).prepare(bare)


def test_pac_crf_step_is_the_papers_equation() -> None:
    """One mean-field step by loops over pixels, taps and labels."""
    sample = sample_of(height=7, width=6, labels=3)
    assert sample.unary is not None
    scale, dilation, size = 30.0, 2, 3
    guide = sample.image.astype(float) / scale
    marginals = softmax(sample.unary.astype(float))
    offsets = np.arange(size) - size // 2
    line = np.exp(-0.5 * (offsets / (size / 4)) ** 2)
    filter_ = np.outer(line, line) * (size / line.sum()) ** 2
    filter_[size // 2, size // 2] = 0
    expected = sample.unary.astype(float).copy()
    labels, height, width = expected.shape
    for y, x in np.ndindex(height, width):
        for tap_y, tap_x in np.ndindex(size, size):
            v, u = y + dilation * offsets[tap_y], x + dilation * offsets[tap_x]
            if not (0 <= v < height and 0 <= u < width):
                continue
            kernel = np.exp(-0.5 * ((guide[:, y, x] - guide[:, v, u]) ** 2).sum())
            for label in range(labels):
                others = marginals[:, v, u].sum() - marginals[label, v, u]
                expected[label, y, x] -= kernel * filter_[tap_y, tap_x] * others
    actual = output_of(
        "pac_crf", sample, steps=1, kernel_size=size, dilations=[dilation], rgb_scale=scale
    )
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dilation", [1, 2])
def test_conv_crf_message_is_a_window_of_gaussians(dilation: int) -> None:
    """Without blur, one step by loops: K of both kernels over the window, its centre left out."""
    sample = sample_of(height=6, width=7, labels=3)
    assert sample.unary is not None
    y, x = np.mgrid[:6, :7].astype(float)
    appearance = np.concatenate([np.stack([y, x]) / 80, sample.image / 13.0])
    smoothness = np.stack([y, x]) / 3
    marginals = softmax(sample.unary.astype(float))
    expected = 0.8 * sample.unary.astype(float)
    window = [step for step in product((-dilation, 0, dilation), repeat=2) if any(step)]
    for features, weight in ((appearance, 2.0), (smoothness, 0.6)):
        for i, j in np.ndindex(6, 7):
            for v, u in ((i + down, j + across) for down, across in window):
                if not (0 <= v < 6 and 0 <= u < 7):
                    continue
                kernel = np.exp(-0.5 * ((features[:, i, j] - features[:, v, u]) ** 2).sum())
                expected[:, i, j] -= weight * kernel * (1 - marginals[:, v, u])  # other labels
    actual = output_of("conv_crf", sample, steps=1, kernel_size=3, blur=1, dilation=dilation)
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4)
