"""What a claim is: two selections of cells, a quantity, and where its effect must lie."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from pacbench.errors import UserError
from pacbench.suite.cells import Cell

Quantity = Literal["score", "runtime", "memory", "parameters"]
Stated = Literal["text", "table", "ours"]


class Selection(BaseModel):
    """Cells by their row in the paper's table, and by any parameter or swept value."""

    model_config = ConfigDict(extra="allow", frozen=True)

    row: str | list[str]

    @property
    def rows(self) -> list[str]:
        return [self.row] if isinstance(self.row, str) else self.row

    def matches(self, cell: Cell) -> bool:
        facts = cell.facts()
        extra: dict[str, Any] = self.model_extra or {}
        return cell.paper_row in self.rows and all(facts.get(k) == v for k, v in extra.items())


class Claim(BaseModel):
    """One claim of the paper; ``claims.yaml`` says what its keys mean."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    claim: str
    source: str
    stated: Stated
    paper: str
    table: str
    ours: Selection
    theirs: Selection | Literal["paper"]
    each: dict[str, list[Any]] = {}
    quantity: Quantity
    effect: Literal["difference", "ratio"]
    above: float | None = None
    below: float | None = None

    @property
    def selections(self) -> list[Selection]:
        return [each for each in (self.ours, self.theirs) if isinstance(each, Selection)]

    @property
    def about(self) -> set[str]:
        """What the two differ in: a swept value that is selected by."""
        return set(self.ours.model_extra or {})

    @model_validator(mode="after")
    def _is_decidable(self) -> Claim:
        if self.above is None and self.below is None:
            raise ValueError("needs 'above' or 'below': where the effect must lie")
        if (self.quantity == "score") != (self.effect == "difference"):
            raise ValueError("scores are compared by difference, all else by ratio")
        if self.theirs == "paper" and self.quantity != "parameters":
            raise ValueError("only parameters compare with the paper's figure itself")
        return self


def load_claims(path: Path | None = None) -> list[Claim]:
    """The paper's claims, or those of a file of the same shape; a bad one is a ``UserError``."""
    name = str(path or "claims.yaml")
    try:
        source = path or files("pacbench.claims").joinpath("claims.yaml")
        data = yaml.safe_load(source.read_text(encoding="utf-8"))
        claims = TypeAdapter(list[Claim]).validate_python(data)
    except OSError as error:
        raise UserError(f"{name}: cannot be read: {error.strerror}") from None
    except yaml.YAMLError as error:
        raise UserError(f"{name}: is not YAML: {error}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise UserError(f"{name}: {place}: {first['msg']}") from None
    ids = [claim.id for claim in claims]
    if twice := [each for each in ids if ids.count(each) > 1]:
        raise UserError(f"{name}: two claims are called '{twice[0]}'")
    return claims
