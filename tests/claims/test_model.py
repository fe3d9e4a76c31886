"""Claims as data: what the paper's name, and mistakes in one's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from made_claims import CLAIMS

from pacbench.claims.model import Claim, load_claims
from pacbench.errors import UserError
from pacbench.report.paper import paper_rows

CLAIM: dict[str, Any] = CLAIMS["crf-pac-32-is-faster-than-full"].model_dump(exclude_none=True)


def test_claims_name_rows_that_the_paper_has() -> None:
    assert len(CLAIMS) >= 30
    for claim in CLAIMS.values():
        rows = {row for row, _ in paper_rows(claim.table)} | {"djf_ours", "pac_crf_16_64"}
        for selection in claim.selections:
            assert set(selection.rows) <= rows, claim.id


RATIOS = [name for name, claim in CLAIMS.items() if claim.effect == "ratio"]


@pytest.mark.parametrize("name", RATIOS)
def test_thresholds_that_the_paper_does_not_state_are_ours(name: str) -> None:
    """A bound that is neither a plain "more", nor "the same" as printed, is our own."""
    claim = CLAIMS[name]
    plain = {claim.above, claim.below} <= {None, 1}
    same = claim.above is not None and claim.below is not None and claim.below - claim.above < 0.03
    assert (claim.stated == "ours") == (not plain and not same)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"below": None}, "needs 'above' or 'below'"),
        ({"effect": "difference"}, "scores are compared by difference"),
        ({"theirs": "paper"}, "only parameters compare with the paper"),
        ({"quantity": "beauty"}, "Input should be 'score', 'runtime'"),
        ({"stated": "somewhere"}, "Input should be 'text', 'table' or 'ours'"),
    ],
)
def test_a_mistake_in_a_claim_is_told(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text(json.dumps([{**CLAIM, **changes}]))
    with pytest.raises(UserError, match=message):
        load_claims(path)


def test_own_claims_are_read(tmp_path: Path) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text(json.dumps([CLAIM]))
    assert load_claims(path) == [Claim.model_validate(CLAIM)]
    path.write_text(json.dumps([CLAIM, CLAIM]))
    with pytest.raises(UserError, match="two claims are called"):
        load_claims(path)
    path.write_text("a: [")
    with pytest.raises(UserError, match="is not YAML"):
        load_claims(path)
    with pytest.raises(UserError, match="cannot be read"):
        load_claims(tmp_path / "none.yaml")
