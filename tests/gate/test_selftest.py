"""The self-test counts rightly what the gate decides."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from pacbench.errors import UserError
from pacbench.gate.decide import Rule
from pacbench.gate.installation import this_installation
from pacbench.gate.load import busy
from pacbench.gate.pairs import Pairing
from pacbench.gate.selftest import (
    SLOWDOWNS,
    Pair,
    Rate,
    add_to_pool,
    as_markdown,
    evaluate,
    read_pool,
)
from pacbench.session import plan


def pairs_of(spread: float, count: int = 40, load: bool = False) -> list[Pair]:
    random = np.random.default_rng(0)
    return [
        Pair(
            log_ratios={"PAC": [float(np.log1p(s) + random.normal(0, spread)) for s in SLOWDOWNS]},
            load=load,
        )
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


def test_the_pool_grows_and_mixes_nothing(tmp_path: Path) -> None:
    path, quiet, loaded = tmp_path / "kept" / "pool", pairs_of(0.01, 3), pairs_of(0.1, 2, load=True)
    assert read_pool(path, False, ["PAC"]) == []
    for pair in (*quiet, *loaded):
        add_to_pool(path, pair)
    assert read_pool(path, False, ["PAC"]) == quiet
    assert read_pool(path, True, ["PAC"]) == loaded
    assert read_pool(path, False, ["PAC", "of a later suite"]) == []


def test_what_is_no_pool_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pool"
    path.write_text("[1, 2]\n")
    with pytest.raises(UserError, match="is no pool of the self-test"):
        read_pool(path, False, ["PAC"])
    with pytest.raises(UserError, match="cannot be read"):
        read_pool(tmp_path, False, ["PAC"])
    with pytest.raises(UserError, match="cannot be written"):
        add_to_pool(tmp_path, pairs_of(0.01, 1)[0])


def test_a_neighbour_keeps_a_core_busy_and_ends() -> None:
    core = max(os.sched_getaffinity(0))
    others = set(psutil.Process().children())
    with busy([core]):
        (neighbour,) = set(psutil.Process().children()) - others
        while neighbour.cpu_times().user < 0.3:
            time.sleep(0.05)
        assert neighbour.cpu_affinity() == [core]
    assert not neighbour.is_running()


def test_a_load_needs_a_core_of_its_own() -> None:
    side = this_installation()
    (cell,) = plan("gate", only={"method": "pac_pool2d"}).cells
    wide = cell.model_copy(update={"threads": len(os.sched_getaffinity(0))})
    with pytest.raises(UserError, match="--load: all cores are timed on"):
        Pairing((side, side), [wide], load=True).run([0])


def test_rates_have_wilsons_interval() -> None:
    assert Rate(0, 300).interval == pytest.approx((0, 0.0126), abs=1e-4)
    assert Rate(300, 300).interval == pytest.approx((0.9874, 1), abs=1e-4)
    assert str(Rate(50, 100)) == "50.0% (40.4% to 59.6%)"


def test_the_table_adds_up() -> None:
    pairs = pairs_of(0.005, load=True)
    text = as_markdown(evaluate(pairs, Rule(), trials=50), pairs)
    assert "on this machine, the other cores kept busy" in text
    assert "| PAC " in text
    assert "| all " in text
    assert "50 decisions for each figure, drawn from 40 real process pairs" in text
