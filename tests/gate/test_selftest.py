"""The self-test counts rightly what the gate decides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pacbench.errors import UserError
from pacbench.gate.decide import Rule
from pacbench.gate.selftest import (
    SLOWDOWNS,
    Pair,
    Rate,
    add_to_pool,
    as_markdown,
    evaluate,
    read_pool,
)


def pairs_of(spread: float, count: int = 40) -> list[Pair]:
    random = np.random.default_rng(0)
    return [
        Pair({"PAC": [float(np.log1p(s) + random.normal(0, spread)) for s in SLOWDOWNS]})
        for _ in range(count)
    ]


def test_a_quiet_machine_is_trusted_with_everything() -> None:
    (power,) = evaluate(pairs_of(0.005), Rule(), trials=200)
    assert [rate.value for rate in power.slower] == [0, 1, 1]
    assert power.same[0].value == 1
    assert power.injected == pytest.approx(SLOWDOWNS, abs=0.005)
    assert 0.9 <= power.covered.value <= 1


def test_a_wild_machine_is_trusted_with_nothing() -> None:
    (power,) = evaluate(pairs_of(1.0), Rule(), trials=200)
    assert power.slower[0].value <= 0.02
    assert power.slower[1].value <= 0.1


def test_too_few_pairs_are_refused() -> None:
    with pytest.raises(UserError, match="3 process pairs are too few"):
        evaluate(pairs_of(0.01, count=3), Rule(), trials=10)


def test_the_pool_grows(tmp_path: Path) -> None:
    path, pairs = tmp_path / "kept" / "pool.jsonl", pairs_of(0.01, count=4)
    assert read_pool(path) == []
    add_to_pool(path, pairs[:3])
    add_to_pool(path, pairs[3:])
    assert read_pool(path) == pairs


def test_rates_have_wilsons_interval() -> None:
    assert Rate(0, 300).interval == pytest.approx((0, 0.0126), abs=1e-4)
    assert Rate(300, 300).interval == pytest.approx((0.9874, 1), abs=1e-4)
    assert str(Rate(50, 100)) == "50.0% (40.4% to 59.6%)"


def test_the_table_adds_up() -> None:
    text = as_markdown(evaluate(pairs_of(0.005), Rule(), trials=50), pairs=40)
    assert "| PAC " in text
    assert "| all " in text
    assert "50 decisions for each figure, drawn from 40 real process pairs" in text
