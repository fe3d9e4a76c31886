"""Whether claims hold: every pair of cells that can tell is compared, with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from pacbench.claims.model import Claim
from pacbench.claims.pairs import Pair, absent, missing, pairs
from pacbench.report.run import Results
from pacbench.timing.intervals import CONFIDENCE, Estimate

Verdict = Literal["holds", "does not hold", "not decided"]
Because = Literal["inconclusive", "untrained", "not measured"]


@dataclass(frozen=True)
class Comparison:
    """What one pair of cells says of a claim.

    Attributes:
        effect: difference or ratio, with its 95 % interval, by which a claim holds.
        joint: the same with the wider interval by which it fails.
    """

    pair: Pair
    effect: Estimate
    joint: Estimate
    verdict: Verdict


@dataclass(frozen=True)
class Decision:
    """A claim, what became of it, and what was lacking."""

    claim: Claim
    verdict: Verdict
    comparisons: list[Comparison] = field(default_factory=list)
    reason: str = ""

    @property
    def because(self) -> Because | None:
        """Why it is not decided: first what was measured, then what was not; None if it is."""
        if self.verdict != "not decided":
            return None
        undecided = [c for c in self.comparisons if c.verdict == "not decided"]
        if any(not c.pair.untrained for c in undecided):
            return "inconclusive"
        return "untrained" if undecided else "not measured"


def decide(claim: Claim, runs: Sequence[Results]) -> Decision:
    """Test a claim on all runs that mirror its table.

    It holds if it does in every comparison, at 95 % each. It fails if it does in one of them, for
    which their number is corrected (Bonferroni): of many, one would else fail by chance. Scores of
    untrained networks decide nothing.
    """
    fitting = [run for run in runs if run.suite.paper_table == claim.table]
    found = list(pairs(claim, fitting))
    if not found:
        return Decision(claim, "not decided", reason=missing(claim, fitting))
    deciding = sum(not pair.untrained for pair in found)
    joint = 1 - (1 - CONFIDENCE) / max(deciding, 1)
    comparisons = [_compared(claim, pair, joint) for pair in found]
    verdicts = {comparison.verdict for comparison in comparisons}
    gone = absent(claim, fitting)
    verdict: Verdict = "holds"
    if "does not hold" in verdicts:
        verdict = "does not hold"
    elif "not decided" in verdicts or gone:  # a claim on all of them cannot hold without some
        verdict = "not decided"
    reasons = [_untrained(found), f"not measured: {', '.join(gone)}" if gone else ""]
    return Decision(claim, verdict, comparisons, "; ".join(filter(None, reasons)))


def verdict_on(
    effect: Estimate, joint: Estimate, above: float | None, below: float | None
) -> Verdict:
    """The interval lies within the bounds, the joint one outside of them, or neither."""
    low, high = -math.inf if above is None else above, math.inf if below is None else below
    if joint.high <= low or joint.low >= high:
        return "does not hold"
    return "holds" if effect.low > low and effect.high < high else "not decided"


def _compared(claim: Claim, pair: Pair, joint_confidence: float) -> Comparison:
    effect, joint = pair.effect.at(CONFIDENCE), pair.effect.at(joint_confidence)
    verdict = verdict_on(effect, joint, claim.above, claim.below)
    return Comparison(pair, effect, joint, "not decided" if pair.untrained else verdict)


def _untrained(found: Sequence[Pair]) -> str:
    """``untrained at 16×: PAC and DJF``, places with the same methods together."""
    by_place: dict[str, dict[str, None]] = {}
    for pair in found:
        for record in pair.untrained:
            by_place.setdefault(pair.at, {})[record.cell.label] = None
    by_names: dict[str, list[str]] = {}
    for place, names in by_place.items():
        by_names.setdefault(" and ".join(names), []).append(place)
    return "; ".join(
        f"untrained{' at ' if any(places) else ''}{' and '.join(places)}: {names}"
        for names, places in by_names.items()
    )
