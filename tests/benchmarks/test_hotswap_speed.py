"""PAC-FCN against FCN-8s: full width, random weights, a 375×500 image, float32, two threads."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from pacbench.pac import hot_swap
from pacbench.pac.fcn import FCN8s, Padding

pytestmark = [pytest.mark.usefixtures("two_threads"), pytest.mark.timeout(600)]

LAYERS, GUIDE = ["conv3_3", "conv4_3", "conv5_3"], "relu2_2"


@torch.inference_mode()
def test_pac_fcn(bars: Any) -> None:
    """With the same padding; FCN's own of 100 pixels makes the network slower than PAC does."""
    weights = FCN8s(padding=1).state_dict()

    def network(padding: Padding) -> FCN8s:
        with torch.device("meta"):
            model = FCN8s(padding=padding)
        model.load_state_dict(weights, assign=True)  # one copy in memory for all
        return model.eval()

    image = torch.randn(1, 3, 375, 500)
    pac_fcn = hot_swap(network(1), LAYERS, GUIDE, backend="native")
    fcn, padded = network(1), network(100)
    times = bars.race(
        {
            "PAC-FCN": lambda: pac_fcn(image),
            "FCN-8s": lambda: fcn(image),
            "FCN-8s, padding 100": lambda: padded(image),
        },
        seconds=20,
        least_rounds=5,
    )
    for name, seconds in times.items():
        bars.say(f"  {name}: {seconds * 1e3:.0f} ms")
    assert bars.judge("PAC-FCN / FCN-8s", times["PAC-FCN"] / times["FCN-8s"], 1.10)
