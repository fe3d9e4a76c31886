"""How long a scene takes; run by `pytest --benchmark-only`, skipped otherwise."""

from itertools import count

import pytest

from pacbench.data.scenes import Scenes, ScenesParams


@pytest.mark.parametrize("unary", [None, {"name": "noise"}, {"name": "network"}], ids=str)
def test_a_scene_of_the_default_size(benchmark, unary):
    dataset = Scenes(ScenesParams(count=10_000, unary=unary), "train", 0)
    numbers = count()
    benchmark.pedantic(lambda: dataset[next(numbers)], rounds=40, warmup_rounds=2)
