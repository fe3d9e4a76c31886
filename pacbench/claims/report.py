"""Claims and what became of them, for people, for programs and for CI."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from pacbench.claims.decide import Comparison, Decision
from pacbench.report.conditions import side_by_side
from pacbench.report.table import Column, Entry, Notes, Table

EXIT_CODES = {"holds": 0, "does not hold": 1, "not decided": 3}
"""The worst verdict decides; 2 is for mistakes in what was asked."""

MOST_SHOWN = 4
"""Comparisons of a claim that its row shows; of more, the least favourable (JSON has all)."""


def exit_code(decisions: Sequence[Decision]) -> int:
    """1 if a claim does not hold, else 3 if one is not decided, else 0."""
    verdicts = {decision.verdict for decision in decisions}
    for verdict in ("does not hold", "not decided", "holds"):
        if verdict in verdicts:
            return EXIT_CODES[verdict]
    return 0


def claims_table(decisions: Sequence[Decision]) -> Table:
    """A row per claim with the effects that decided it."""
    columns = [
        Column("claim", align="l"),
        Column("verdict", align="l"),
        Column("effect (95 % interval)", align="l"),
        Column("the paper", align="l"),
    ]
    rows, footnotes = [], Notes()
    for decision in decisions:
        reason = [decision.reason] if decision.reason else []
        effects = "; ".join([*_effects(decision.comparisons), *reason])
        untrained = dict.fromkeys(name for c in decision.comparisons for name in c.untrained)
        mark = footnotes.mark(f"untrained: {'; '.join(untrained)}" if untrained else "")
        source = f"{decision.claim.paper} ({decision.claim.source})"
        rows.append(
            [
                Entry(decision.claim.claim, decision.claim.id),
                Entry(decision.verdict, decision.verdict),
                Entry(effects, effects, mark=mark),
                Entry(source, source),
            ]
        )
    found = [c for decision in decisions for c in decision.comparisons]
    where = dict.fromkeys(c.where for c in found)
    notes = [
        *footnotes.lines(),
        "effect: ours − theirs, paired image by image, or ours / theirs (×), of times in the same "
        "rounds; a claim holds if the interval lies on its side of the bound in every comparison",
        *(f"tested on: {place}" for place in _by_suite(list(where))),
    ]
    return Table("claims", summary(decisions), columns, rows, notes)


def summary(decisions: Sequence[Decision]) -> str:
    """``The paper's claims: 12 hold, 3 do not, 2 are not decided``."""
    counts = [sum(d.verdict == verdict for d in decisions) for verdict in EXIT_CODES]
    return "The paper's claims: {} hold, {} do not hold, {} are not decided".format(*counts)


def as_json(decisions: Sequence[Decision]) -> str:
    """Every claim with every comparison."""
    content = [
        {
            **decision.claim.model_dump(mode="json", include={"id", "claim", "source", "paper"}),
            "verdict": decision.verdict,
            "reason": decision.reason,
            "bounds": {"above": decision.claim.above, "below": decision.claim.below},
            "comparisons": [
                {
                    "ours": c.ours,
                    "theirs": c.theirs,
                    "at": c.at,
                    "effect": c.effect.value,
                    "low": c.effect.low if math.isfinite(c.effect.low) else None,
                    "high": c.effect.high if math.isfinite(c.effect.high) else None,
                    "unit": c.unit,
                    "how": c.how,
                    "where": c.where,
                    "untrained": list(c.untrained),
                    "verdict": c.verdict,
                }
                for c in decision.comparisons
            ],
        }
        for decision in decisions
    ]
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _effects(comparisons: Sequence[Comparison]) -> list[str]:
    """``8×: −0.31 cm (−0.40 to −0.22)``; methods are named where there are several."""
    several = [len({getattr(c, side) for c in comparisons}) > 1 for side in ("ours", "theirs")]
    texts = []
    shown = list(comparisons)
    if len(shown) > MOST_SHOWN:
        worst = min(shown, key=_margin)
        texts.append(f"the least of {len(shown)}")
        shown = [worst]
    for c in shown:
        names = [name for name, told in zip((c.ours, c.theirs), several, strict=True) if told]
        place = ", ".join([*names, *([c.at] if c.at else [])])
        texts.append(f"{place}: {_effect(c)}" if place else _effect(c))
    return texts


def _margin(comparison: Comparison) -> float:
    """How far the nearer end of the interval is on the right side of the nearer bound."""
    low = comparison.effect.low - comparison.above if comparison.above is not None else math.inf
    high = comparison.below - comparison.effect.high if comparison.below is not None else math.inf
    return min(low, high)


def _effect(comparison: Comparison) -> str:
    value, low, high = comparison.effect
    digits = 2 if abs(value) >= 0.1 else 3
    sign = "" if comparison.unit == "×" else "+"
    shown = f"{value:{sign}.{digits}f}"
    shown += "×" if comparison.unit == "×" else f" {comparison.unit}"
    if low != high:
        bounds = (f"{bound:{sign}.{digits}f}" for bound in (low, high))
        known = math.isfinite(high - low)
        shown += f" ({' to '.join(bounds)})" if known else " (interval not known)"
    return shown.replace("-", "−")


def _by_suite(places: Sequence[str]) -> list[str]:
    """Places of one suite, which differ in the factor only, in one line."""
    suites: dict[str, list[str]] = {}
    for place in places:
        suite, _, details = place.removesuffix(")").partition(" (")
        suites.setdefault(suite, []).append(details)
    return [f"{suite}: {side_by_side(details)}" for suite, details in suites.items()]
