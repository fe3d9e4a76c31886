"""Claims and every comparison behind them, for programs."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from typing import Any

from pacbench.claims.decide import Comparison, Decision


def as_json(decisions: Sequence[Decision]) -> str:
    """A list of claims, each with the list of its comparisons."""
    content = [
        {**_claim(decision), "comparisons": [_comparison(c) for c in decision.comparisons]}
        for decision in decisions
    ]
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def as_csv(decisions: Sequence[Decision]) -> str:
    """A row per comparison with its claim; a claim without any has a row of its own."""
    rows = []
    for decision in decisions:
        for comparison in map(_comparison, decision.comparisons):
            comparison["comparison_verdict"] = comparison.pop("verdict")
            rows.append(_claim(decision) | comparison)
        if not decision.comparisons:
            rows.append(_claim(decision))
    buffer = io.StringIO()
    header = list(dict.fromkeys(key for row in rows for key in row))
    writer = csv.DictWriter(buffer, header, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: "; ".join(v) if isinstance(v, list) else v for k, v in row.items()})
    return buffer.getvalue()


def _claim(decision: Decision) -> dict[str, Any]:
    told = {"id", "claim", "source", "stated", "paper", "quantity", "above", "below"}
    return {
        **decision.claim.model_dump(mode="json", include=told),
        "verdict": decision.verdict,
        "because": decision.because,
        "reason": decision.reason,
    }


def _comparison(comparison: Comparison) -> dict[str, Any]:
    pair = comparison.pair
    cell, environment = pair.ours.cell, pair.run.environments[pair.ours.environment]
    ours, theirs = pair.names
    return {
        "ours": ours,
        "theirs": theirs,
        "at": pair.at,
        "effect": comparison.effect.value,
        "low": _finite(comparison.effect.low),
        "high": _finite(comparison.effect.high),
        "joint_low": _finite(comparison.joint.low),
        "joint_high": _finite(comparison.joint.high),
        "unit": pair.effect.unit,
        "how": pair.effect.how,
        "verdict": comparison.verdict,
        "untrained": [record.cell.label for record in pair.untrained],
        "unstable": [f"{r.cell.label}: {r.timing.unstable}" for r in pair.unstable if r.timing],
        "suite": pair.run.suite.name,
        "data": cell.data.name,
        "split": cell.data.split,
        "images": len(pair.ours.images),
        "protocol": pair.ours.protocol,
        "device": cell.device,
        "machine": ", ".join([environment.cpu, *environment.gpu]),
        "threads": cell.threads,
        "ours_backend": cell.backend,
        "theirs_backend": pair.theirs.cell.backend if pair.theirs else None,
    }


def _finite(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None
