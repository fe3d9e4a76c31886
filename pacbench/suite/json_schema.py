"""The JSON schema of suite files, with the parameters of every registered method and dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from pacbench.data.base import datasets
from pacbench.method import methods
from pacbench.suite.schema import Suite
from pacbench.tasks import tasks


def suite_schema() -> dict[str, Any]:
    """A draft 2020-12 schema: naming a method or dataset decides which ``params`` fit."""
    schema = Suite.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "pacbench suite"
    definitions = schema["$defs"]
    _choose_params(
        definitions["MethodSpec"], {name: methods[name].Params for name in methods}, definitions
    )
    _choose_params(
        definitions["DataSpec"], {name: datasets[name].Params for name in datasets}, definitions
    )
    _choose_protocol(schema, {name: tasks[name].Protocol for name in tasks}, definitions)
    return schema


def _choose_protocol(
    schema: dict[str, Any], models: Mapping[str, type[BaseModel]], definitions: dict[str, Any]
) -> None:
    """Let the task decide what may stand under ``protocol``."""
    schema["allOf"] = [
        {
            "if": {"properties": {"task": {"const": name}}},
            "then": {"properties": {"protocol": _params(model, definitions)}},
        }
        for name, model in sorted(models.items())
    ]


def _choose_params(
    spec: dict[str, Any], models: Mapping[str, type[BaseModel]], definitions: dict[str, Any]
) -> None:
    spec["properties"]["name"]["enum"] = sorted(models)
    spec["allOf"] = []
    for name, model in sorted(models.items()):
        spec["allOf"].append(
            {
                "if": {"properties": {"name": {"const": name}}},
                "then": {"properties": {"params": _params(model, definitions)}},
            }
        )


def _params(model: type[BaseModel], definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of a mapping that may also be left empty; what it refers to is defined."""
    params = model.model_json_schema(ref_template="#/$defs/{model}")
    definitions.update(params.pop("$defs", {}))
    return {"anyOf": [params, {"type": "null"}]}
