"""The permutohedral filter against pydensecrf's: 375×500, 21 channels, features (x, y, r, g, b).

pydensecrf runs on one thread and offers no filter by itself. One pass of it is a mean-field step
with one kernel that is not normalised, less a step without kernels, less what the step does to the
message beside filtering (copy, weigh, subtract, here by numpy).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from pydensecrf import densecrf
from torch import Tensor

from pacbench.data.base import Sample, datasets
from pacbench.kernels import PermutohedralLattice, gaussian_weight
from pacbench.method import Context, methods

THETA_ALPHA, THETA_BETA = 49.0, 5.0  # full_crf's


@pytest.fixture(scope="module")
def sample() -> Sample:
    scenes = datasets["scenes"]
    return scenes(scenes.Params(), "val", 0)[0]


def features_of(image: NDArray[np.uint8]) -> Tensor:
    position = np.stack(np.meshgrid(*(np.arange(n) for n in image.shape[:0:-1]))) / THETA_ALPHA
    return torch.from_numpy(np.concatenate([position, image / THETA_BETA]))[None].float()


class DenseStep:
    """One mean-field step of pydensecrf, with the appearance kernel or with none."""

    def __init__(self, sample: Sample, kernel: bool) -> None:
        assert sample.unary is not None
        labels, height, width = sample.unary.shape
        self.crf = densecrf.DenseCRF2D(width, height, labels)
        self.crf.setUnaryEnergy(np.ascontiguousarray(-sample.unary.reshape(labels, -1)))
        self.image = np.ascontiguousarray(sample.image.transpose(1, 2, 0))
        if kernel:
            self.add_kernel()
        self.state = self.crf.startInference()

    def add_kernel(self) -> None:
        plain = {"compat": 1.0, "normalization": densecrf.NO_NORMALIZATION}
        self.crf.addPairwiseBilateral(sxy=THETA_ALPHA, srgb=THETA_BETA, rgbim=self.image, **plain)

    def __call__(self) -> None:
        self.crf.stepInference(*self.state)


def on(threads: int, work: Any) -> Any:
    def run() -> object:
        torch.set_num_threads(threads)
        return work()

    return run


@pytest.mark.usefixtures("two_threads")
def test_filter_pass(bars: Any, sample: Sample) -> None:
    values = torch.rand(1, 21, 375, 500)
    lattice = PermutohedralLattice(features_of(sample.image), backend="native")
    weight = gaussian_weight(5)
    message, other = values.numpy().copy(), values.numpy().copy()

    def copy_weigh_subtract() -> None:
        np.copyto(other, message)
        np.multiply(other, 1.0, out=other)
        np.subtract(message, other, out=message)

    times = bars.race(
        {
            "one": on(1, lambda: lattice.filter(values)),
            "two": on(2, lambda: lattice.filter(values)),
            "learned": on(2, lambda: lattice.filter(values, weight)),
            "with": DenseStep(sample, kernel=True),
            "without": DenseStep(sample, kernel=False),
            "beside": copy_weigh_subtract,
        }
    )
    dense = times["with"] - times["without"] - times["beside"]
    bars.say(
        f"\n{lattice.points} lattice points; milliseconds: pydensecrf {dense * 1e3:.1f}, ours "
        f"{times['one'] * 1e3:.1f} on one thread, {times['two'] * 1e3:.1f} on two, learned filter "
        f"of 63 taps {times['learned'] * 1e3:.1f} on two"
    )
    good = [
        bars.judge("filter pass, one thread, against pydensecrf's", times["one"] / dense, 1.0),
        bars.judge("filter pass, two threads, against pydensecrf's", times["two"] / dense, 0.99),
    ]
    assert all(good)


@pytest.mark.usefixtures("two_threads")
def test_building_the_lattice(bars: Any, sample: Sample) -> None:
    """With the neighbours of the blur, as pydensecrf's set-up has them: a first pass finds them."""
    features = features_of(sample.image)
    one_value = torch.ones(1, 1, 375, 500)

    def build() -> None:
        PermutohedralLattice(features, backend="native").filter(one_value)

    ready = PermutohedralLattice(features, backend="native")

    dense = DenseStep(sample, kernel=False)
    times = bars.race(
        {
            "one": on(1, build),
            "two": on(2, build),
            "pass on one": on(1, lambda: ready.filter(one_value)),
            "pass on two": on(2, lambda: ready.filter(one_value)),
            "dense": dense.add_kernel,
        }
    )
    one, two = (times[n] - times[f"pass on {n}"] for n in ("one", "two"))
    bars.say(
        f"\nmilliseconds: pydensecrf {times['dense'] * 1e3:.1f}, ours {one * 1e3:.1f} on one "
        f"thread, {two * 1e3:.1f} on two"
    )
    good = [
        bars.judge("lattice, one thread, against pydensecrf's", one / times["dense"], 1.0),
        bars.judge("lattice, two threads, against pydensecrf's", two / times["dense"], 1.0),
    ]
    assert all(good)


@pytest.mark.usefixtures("two_threads")
def test_whole_inference(bars: Any, sample: Sample) -> None:
    """Set-up and 5 steps with the same parameters and, but for BCL's filters, the same result."""

    def run(name: str, backend: str) -> Any:
        cls = methods[name]
        method = cls(cls.Params(), Context("cpu", backend, 2, 0, sample))
        inputs = method.prepare(sample)
        return lambda: method.run(inputs)

    with torch.inference_mode():
        times = bars.race(
            {
                "crf_rnn": run("crf_rnn", "native"),
                "bcl_crf": run("bcl_crf", "native"),
                "full_crf": run("full_crf", "pydensecrf"),
            }
        )
    good = [
        bars.judge(f"{name}, two threads, against full_crf", times[name] / times["full_crf"], 1)
        for name in ("crf_rnn", "bcl_crf")
    ]
    assert all(good)
