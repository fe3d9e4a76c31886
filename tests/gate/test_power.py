"""False alarms and power are counted rightly, of the very decision that the gate takes."""

from __future__ import annotations

import numpy as np
import pytest

from pacbench.errors import UserError
from pacbench.gate.decide import LOOKS, Rule
from pacbench.gate.power import RUN_SECONDS, Rate, evaluate
from pacbench.gate.power_table import as_markdown
from pacbench.gate.selftest import SLOWDOWNS, Pair


def pairs_of(
    spread: float, *names: str, count: int = 40, seconds: float = 5.0, load: bool = False
) -> list[Pair]:
    random = np.random.default_rng(0)
    return [
        Pair(
            log_ratios={
                name: [float(np.log1p(s) + random.normal(0, spread)) for s in SLOWDOWNS]
                for name in names or ["PAC"]
            },
            seconds=seconds,
            load=load,
        )
        for _ in range(count)
    ]


def test_a_quiet_machine_is_trusted_with_everything() -> None:
    expected = evaluate(pairs_of(0.005), Rule(), trials=200)
    (power,) = expected.powers
    assert [rate.value for rate in power.slower] == [0, 1, 1]
    assert power.same[0].value == 1
    assert power.injected == pytest.approx(SLOWDOWNS, abs=0.005)
    assert 0.9 <= power.covered.value <= 1
    assert expected.false_alarms == (0, 200)
    assert LOOKS[0] <= power.pairs <= LOOKS[1]


def test_a_wild_machine_is_trusted_with_nothing() -> None:
    (power,) = evaluate(pairs_of(1.0), Rule(), trials=200).powers
    assert power.slower[0].value <= 0.02
    assert power.slower[1].value <= 0.1


def test_a_run_alarms_if_any_of_its_benchmarks_does() -> None:
    """At a confidence that allows for alarms: the run has more of them than each benchmark."""
    lax = Rule(max_slowdown=1e-9, same_within=1e-9, confidence=0.7, benchmarks=1)
    expected = evaluate(pairs_of(0.02, "a", "b", "c"), lax, trials=200)
    alarms = [power.slower[0].hits for power in expected.powers]
    assert 0 < max(alarms) < expected.false_alarms.hits <= sum(alarms)


def test_what_takes_too_long_is_not_decided() -> None:
    """Six pairs must fit into the time of a run; a slowdown that needs more is missed."""
    slow = evaluate(pairs_of(0.005, seconds=RUN_SECONDS / 5), Rule(), trials=20)
    assert [rate.hits for rate in slow.powers[0].slower] == [0, 0, 0]
    assert slow.powers[0].same[0].hits == 0
    assert max(slow.seconds) <= RUN_SECONDS
    just = evaluate(pairs_of(0.005, seconds=RUN_SECONDS / LOOKS[0]), Rule(), trials=20)
    assert just.powers[0].slower[2].hits == 20
    assert just.seconds == pytest.approx([RUN_SECONDS] * 20)


def test_too_few_pairs_are_refused() -> None:
    with pytest.raises(UserError, match="3 process pairs are too few"):
        evaluate(pairs_of(0.01, count=3), Rule(), trials=10)


def test_rates_have_wilsons_interval() -> None:
    assert Rate(0, 300).interval == pytest.approx((0, 0.0126), abs=1e-4)
    assert Rate(300, 300).interval == pytest.approx((0.9874, 1), abs=1e-4)
    assert str(Rate(50, 100)) == "50.0% (40.4% to 59.6%)"


def test_the_table_has_every_benchmark() -> None:
    pairs = pairs_of(0.005, "PAC", "pool", load=True)
    text = as_markdown(evaluate(pairs, Rule(benchmarks=2), trials=50), pairs)
    assert "on this machine, the other cores kept busy" in text
    assert "| PAC " in text
    assert "| pool " in text
    assert "50 runs of the gate for each figure, within 300 s" in text
    assert "drawn from 40 real process pairs" in text


@pytest.mark.parametrize(("spread", "said"), [(0.005, "pass"), (0.2, "FAIL")])
def test_figures_stand_beside_their_bars(spread: float, said: str) -> None:
    pairs = pairs_of(spread)
    text = as_markdown(evaluate(pairs, Rule(), trials=100), pairs)
    rows = {
        cells[1].strip(): [cell.strip() for cell in cells[2:-1]]
        for cells in (line.split("|") for line in text.splitlines() if line.startswith("| "))
    }
    assert rows["false alarms, of decisions"][1] == "at most 0.5%"
    assert rows["+5% caught"][1:] == ["at least 97.0%", said]
    assert rows["+10% caught"][1:] == ["at least 99.5%", said]
    assert rows["95 % interval holds"][1] == "93% to 97%"
    assert rows["seconds of a run of 1 benchmarks"][1:] == ["at most 300", "pass"]
