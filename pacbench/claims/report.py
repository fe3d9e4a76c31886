"""Claims and what became of them, for people and for CI."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from pacbench.claims.decide import Comparison, Decision, verdict_on
from pacbench.claims.model import Claim
from pacbench.report.conditions import conditions, unstable
from pacbench.report.table import Column, Entry, Table
from pacbench.timing.intervals import Estimate

EXIT_CODES = {"holds": 0, "does not hold": 1, "not decided": 3}
"""The worst verdict decides; 2 is for mistakes in what was asked."""

MOST_SHOWN = 4
"""Comparisons of a claim that its row shows; of more, the least favourable (JSON has all)."""

RULES = (
    "effect: ours − theirs, paired image by image, or ours / theirs (×), of times in the same "
    "rounds; intervals are two-sided, at 95 %; parameters and memory, which is measured once, have "
    "none",
    "holds: in every comparison the interval lies where the claim wants it; does not hold: in one "
    "of them it lies on the other side even if widened for their number (of n, at 1 − 5 % / n, "
    "Bonferroni); untrained: scores of a network that learns and has no weights decide nothing",
    "our threshold: the paper puts it in words or figures only, where to draw the line is ours",
)


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
    doubtful = {r.id: r for d in decisions for c in d.comparisons for r in c.pair.unstable}
    notes = [*unstable(list(doubtful.values())), *RULES, *_tested_on(decisions)]
    return Table("claims", summary(decisions), columns, [_row(d) for d in decisions], notes)


def tally(decisions: Sequence[Decision]) -> dict[str, int]:
    """How many claims hold, how many do not, and why the others are not decided."""
    verdicts = {"hold": "holds", "do not hold": "does not hold"}
    counts = {what: sum(d.verdict == v for d in decisions) for what, v in verdicts.items()}
    for because in ("inconclusive", "untrained", "not measured"):
        counts[because] = sum(d.because == because for d in decisions)
    return counts


def summary(decisions: Sequence[Decision]) -> str:
    """``The paper's claims: 12 hold, 3 do not hold, 2 are not decided (2 inconclusive, …)``."""
    hold, do_not, *lacking = tally(decisions).items()
    told = ", ".join(f"{count} {what}" for what, count in lacking)
    decided = ", ".join(f"{count} {what}" for what, count in (hold, do_not))
    undecided = sum(count for _, count in lacking)
    return f"The paper's claims: {decided}, {undecided} are not decided ({told})"


def _row(decision: Decision) -> list[Entry]:
    claim = decision.claim
    text = f"{claim.claim} (our threshold)" if claim.stated == "ours" else claim.claim
    because = f" ({decision.because})" if decision.because else ""
    effects = "; ".join([*_effects(decision), *filter(None, [decision.reason])])
    mark = " †" if any(c.pair.unstable for c in decision.comparisons) else ""
    source = f"{claim.paper} ({claim.source})"
    return [
        Entry(text, text),
        Entry(f"{decision.verdict}{because}", decision.verdict),
        Entry(effects, effects, mark=mark),
        Entry(source, source),
    ]


def _effects(decision: Decision) -> list[str]:
    """``8×: −0.31 cm (−0.40 to −0.22)``; methods are named where there are several."""
    named = [c.pair.names for c in decision.comparisons]
    several = [len(set(side)) > 1 for side in zip(*named, strict=True)]
    texts, shown = [], decision.comparisons
    if len(shown) > MOST_SHOWN:
        count, least = _least(decision)
        texts, shown = [f"the least of {count}"], [least]
    for c in shown:
        names = [name for name, told in zip(c.pair.names, several, strict=True) if told]
        place = ", ".join([*names, *filter(None, [c.pair.at])])
        effect = _effect(c, decision.claim)
        texts.append(f"{place}: {effect}" if place else effect)
    return texts


def _least(decision: Decision) -> tuple[int, Comparison]:
    """Of how many that can tell which is the least favourable."""
    trained = [c for c in decision.comparisons if not c.pair.untrained] or decision.comparisons
    failing = [c for c in trained if c.verdict == "does not hold"]
    return len(trained), min(failing or trained, key=lambda c: _margin(c, decision.claim))


def _margin(comparison: Comparison, claim: Claim) -> float:
    """How far the nearer end of the interval is on the right side of the nearer bound."""
    _, low, high = comparison.effect
    above = math.inf if claim.above is None else low - claim.above
    below = math.inf if claim.below is None else claim.below - high
    return min(above, below)


def _effect(comparison: Comparison, claim: Claim) -> str:
    effect, unit = comparison.effect, comparison.pair.effect.unit
    style = f"{'' if unit == '×' else '+'}.{2 if abs(effect.value) >= 0.1 else 3}f"
    shown = f"{effect.value:{style}}" + ("×" if unit == "×" else f" {unit}")
    if effect.low == effect.high:
        return shown.replace("-", "−")
    told = _interval(effect, style)
    alone = verdict_on(effect, effect, claim.above, claim.below)
    if alone == "does not hold" and alone != comparison.verdict and not comparison.pair.untrained:
        told += f", widened {_interval(comparison.joint, style)}"
    return f"{shown} ({told})".replace("-", "−")


def _interval(estimate: Estimate, style: str) -> str:
    _, low, high = estimate
    known = math.isfinite(high - low)
    return f"{low:{style}} to {high:{style}}" if known else "interval not known"


def _tested_on(decisions: Sequence[Decision]) -> list[str]:
    """Data, protocol, device and backends of what was compared, one line a suite."""
    found = [c.pair for d in decisions for c in d.comparisons]
    compared = {record.id for pair in found for record in pair.records}
    lines = []
    for run in {id(pair.run): pair.run for pair in found}.values():
        used = replace(run, records=[r for r in run.records if r.id in compared])
        lines.append(f"tested on: {run.suite.name}: {'; '.join(conditions(used))}")
    return lines
