"""Claims of many comparisons: chance fails them no more often than claims of one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from made_results import cell, record, results

from pacbench.claims.decide import decide
from pacbench.claims.effects import between
from pacbench.claims.model import Claim
from pacbench.record import ImageScore
from pacbench.report.run import Results
from pacbench.timing import Timing

ROWS = [f"other_{number}" for number in range(21)]
IMAGES = 6
CLAIM = Claim.model_validate(
    {
        "id": "better-than-all",
        "claim": "Ours has less error than all others",
        "source": "nowhere",
        "stated": "ours",
        "paper": "nothing",
        "table": "tab_upsample_depth",
        "ours": {"row": "mine"},
        "theirs": {"row": ROWS},
        "quantity": "score",
        "effect": "difference",
        "below": 0,
    }
)


@pytest.fixture(scope="module")
def blank() -> Results:
    """One method and 21 others, all without error."""
    cells = [cell(row, task="upsample") for row in ("mine", *ROWS)]
    made = [record(each, [0.0] * IMAGES, metric="rmse_cm", timing=None) for each in cells]
    return results(made, paper_table="tab_upsample_depth")


def with_errors(blank: Results, errors: np.ndarray) -> Results:
    """The same with errors, (methods, images)."""
    records = [
        one.model_copy(
            update={
                "images": [
                    ImageScore(name=f"{i}", metrics={"rmse_cm": each}) for i, each in enumerate(row)
                ],
                "metrics": {"rmse_cm": float(row.mean())},
            }
        )
        for one, row in zip(blank.records, errors, strict=True)
    ]
    return replace(blank, records=records)


def test_equal_methods_fail_a_claim_as_seldom_as_one_would(blank: Results) -> None:
    """Differences are independent here, which is when chance has the most tries."""
    random = np.random.default_rng(0)
    runs, failed, uncorrected = 200, 0, 0
    for _ in range(runs):
        errors = random.normal(size=(1 + len(ROWS), IMAGES))
        errors[0] = 0
        found = decide(CLAIM, [with_errors(blank, errors)])
        failed += found.verdict == "does not hold"
        uncorrected += any(c.effect.low >= 0 for c in found.comparisons)
    assert uncorrected / runs > 0.25  # 41 % on average: 1 - 0.975 ** 21
    assert failed / runs < 0.06  # 2.5 % on average


def test_one_clear_failure_is_seen_among_many(blank: Results) -> None:
    errors = np.random.default_rng(0).normal(5, 0.1, size=(1 + len(ROWS), IMAGES))
    errors[0] -= 5
    assert decide(CLAIM, [with_errors(blank, errors)]).verdict == "holds"
    errors[7] -= 10
    found = decide(CLAIM, [with_errors(blank, errors)])
    assert [c.verdict for c in found.comparisons].count("does not hold") == 1
    assert found.verdict == "does not hold"


def test_intervals_of_times_widen_with_the_number_of_comparisons(blank: Results) -> None:
    random = np.random.default_rng(2)
    timed = [
        one.model_copy(update={"timing": Timing.of([list(random.lognormal(size=50))], race="r")})
        for one in blank.records
    ]
    claim = CLAIM.model_copy(update={"quantity": "runtime", "effect": "ratio", "below": 1.0})
    for others in (1, 21):
        found = decide(claim, [replace(blank, records=timed[: 1 + others])])
        wider = [c.joint.low < c.effect.low for c in found.comparisons]
        assert wider == [others > 1] * others


def test_intervals_of_scores_widen_by_students_t(blank: Results) -> None:
    errors = np.random.default_rng(1).normal(size=(1 + len(ROWS), IMAGES))
    first, second, *_ = with_errors(blank, errors).records
    effect = between("score", first, second)
    assert effect is not None
    (_, low, high), (_, lower, higher) = effect.at(0.95), effect.at(0.99)
    assert (higher - lower) / (high - low) == pytest.approx(4.0321 / 2.5706, rel=1e-3)
