"""Claims tested on results that were made."""

from __future__ import annotations

from dataclasses import replace

from pacbench.claims.decide import Decision, decide
from pacbench.claims.model import load_claims
from pacbench.record import Record
from pacbench.report.run import Results

CLAIMS = {claim.id: claim for claim in load_claims()}


def decided(name: str, *runs: Results) -> Decision:
    return decide(CLAIMS[name], runs)


def with_params(record: Record, **params: object) -> Record:
    """The record of a cell that had these parameters too."""
    changed = record.cell.model_copy(update={"params": {**record.cell.params, **params}})
    return record.model_copy(update={"cell": changed})


def trained(made: Results) -> Results:
    """The same with weights for every method."""
    return replace(made, records=[with_params(each, weights="some") for each in made.records])
