"""Upsampling networks that come with the package: all or none of a factor, and fairly trained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pacbench.train.weights import packaged_weights

NETWORKS = ("djf", "pac-lite", "pac")
FACTORS = (4, 8, 16)


def weights_of(target: str) -> dict[str, Path]:
    return {n: p for n, p in packaged_weights().items() if n.startswith(f"upsample_{target}/")}


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("target", ["depth", "flow"])
def test_all_or_none_of_a_factor_are_there(target: str, factor: int) -> None:
    there = {name for name in weights_of(target) if name.endswith(f"-factor-{factor}")}
    complete = {f"upsample_{target}/{name}-factor-{factor}" for name in NETWORKS}
    assert there in (set(), complete)


@pytest.mark.parametrize("target", ["depth", "flow"])
def test_all_were_trained_alike(target: str) -> None:
    abouts = [
        json.loads((p.parent / "training.json").read_text()) for p in weights_of(target).values()
    ]
    budgets = {json.dumps(about["training"], sort_keys=True) for about in abouts}
    assert len(budgets) <= 1
