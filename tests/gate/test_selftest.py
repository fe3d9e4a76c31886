"""The pairs that the self-test draws from: kept apart, and with a neighbour where asked for."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from pacbench.errors import UserError
from pacbench.gate.agent import PRICE_SECONDS
from pacbench.gate.installation import this_installation
from pacbench.gate.load import busy
from pacbench.gate.pairs import Pairing
from pacbench.gate.selftest import SLOWDOWNS, Pair, add_to_pool, collect, read_pool
from pacbench.session import plan


def pairs_of(spread: float, count: int, load: bool = False) -> list[Pair]:
    random = np.random.default_rng(0)
    return [
        Pair(
            log_ratios={"PAC": [float(np.log1p(s) + random.normal(0, spread)) for s in SLOWDOWNS]},
            seconds=5.0,
            load=load,
        )
        for _ in range(count)
    ]


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


def test_pairs_are_timed_as_they_are_and_slowed_down() -> None:
    cells = plan("gate", only={"method": "pac_pool2d"}).cells
    begin = time.monotonic()
    (pair,) = collect(this_installation(), cells, budget=0.1, say=print)
    (log_ratios,) = pair.log_ratios.values()
    assert len(log_ratios) == len(SLOWDOWNS)
    assert 0 < pair.seconds < time.monotonic() - begin - PRICE_SECONDS  # that is not the gate's
