"""Upsampling networks that come with the package: for every factor, and fairly trained."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pacbench.train.weights import packaged_weights

NETWORKS = ("djf-our-impl", "pac-lite", "pac")
FACTORS = (4, 8, 16)


def abouts(target: str) -> list[dict[str, Any]]:
    """What is known of the trainings, for all networks and factors."""
    packaged = packaged_weights()
    paths = [
        packaged[f"upsample_{target}/{network}-factor-{factor}"]
        for network in NETWORKS
        for factor in FACTORS
    ]
    return [json.loads((path.parent / "training.json").read_text()) for path in paths]


@pytest.mark.parametrize("target", ["depth", "flow"])
def test_there_are_no_others(target: str) -> None:
    there = [name for name in packaged_weights() if name.startswith(f"upsample_{target}/")]
    assert len(there) == len(abouts(target))


@pytest.mark.parametrize("target", ["depth", "flow"])
def test_all_were_trained_alike(target: str) -> None:
    """By the same settings, for as many steps, on the same data."""
    settings = {
        json.dumps([about["training"], about["cell"]["data"], about["cell"]["seed"]])
        for about in abouts(target)
    }
    assert len(settings) == 1


@pytest.mark.parametrize("target", ["depth", "flow"])
def test_each_is_of_a_clean_checkout_and_tells_its_command(target: str) -> None:
    for about in abouts(target):
        assert about["environment"]["dirty"] is False
        assert about["command"].startswith(f"pacbench train suites/upsample_{target}.yaml")
