"""The OpenAPI 3.1 document of the JSON API, built from its operations."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic.json_schema import models_json_schema

from server.api.operation import Operation
from server.api.parameters import JSON, TOML
from server.api.problem import CODES
from server.records.entries import versions

_REF: Final = "#/components/schemas/{model}"
_TEXT: Final = {"type": "string"}
_WHOLE: Final = (JSON, "text/plain", "text/html")
"""Types of content that are one value; streams go on."""


class Problem(BaseModel):
    """What went wrong: `code` for programs, `message` for people, `hint` what to do, perhaps empty.

    Errors of rule files add their kind, where they are, and what was found there.
    """

    model_config = ConfigDict(extra="allow")

    code: str
    message: str
    hint: str


class ErrorAnswer(BaseModel):
    """The one shape of all errors."""

    error: Problem


def document(operations: list[Operation]) -> dict[str, Any]:
    """Return the OpenAPI document of *operations*."""
    models = {model for operation in operations for model in (operation.body, operation.answer) if model is not None}
    ordered = sorted(models | {ErrorAnswer}, key=lambda model: model.__name__)
    _, schemas = models_json_schema([(model, "validation") for model in ordered], ref_template=_REF)
    # Query models are taken apart into parameters, but what they refer to is needed.
    definitions = schemas["$defs"] | _query_definitions(operations)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "The game manager",
            "version": versions()["ggp"],
            "description": "Matches between players, in JSON. Where a token is needed it goes into the header "
            "Authorization: Bearer TOKEN.",
        },
        "paths": dict(_paths(operations)),
        "components": {
            "schemas": dict(sorted(definitions.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _query_definitions(operations: Iterable[Operation]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for operation in operations:
        if operation.query is not None:
            found |= operation.query.model_json_schema(ref_template=_REF).get("$defs", {})
    return found


def _paths(operations: Sequence[Operation]) -> Iterable[tuple[str, Any]]:
    for path, those in groupby(sorted(operations, key=lambda one: one.path), key=lambda one: one.path):
        yield path, {operation.method.lower(): _described(operation) for operation in those}


def _described(operation: Operation) -> dict[str, Any]:
    """Return the operation object of *operation*."""
    found: dict[str, Any] = {
        "tags": [operation.tag],
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": list(_parameters(operation)),
        "responses": _responses(operation),
    }
    if operation.description:
        found["description"] = operation.description
    if operation.is_deprecated:
        found["deprecated"] = True
    if operation.body is not None:
        schemas = {JSON: _reference(operation.body), TOML: _TEXT}
        taken = {media: {"schema": schemas[media]} for media in operation.taken}
        found["requestBody"] = {"required": operation.default_body is None, "content": taken}
    if operation.role is not None:
        found |= {"security": [{"token": []}, {}], "x-role": operation.role.name.lower()}
    return found


def _parameters(operation: Operation) -> Iterable[dict[str, Any]]:
    """Yield the parameter objects of path, query and headers."""
    for name, kind in operation.path_types.items():
        schema = TypeAdapter(kind).json_schema(ref_template=_REF)
        yield {"name": name, "in": "path", "required": True, "schema": schema}
    if operation.query is not None:
        schema = operation.query.model_json_schema(ref_template=_REF)
        for name, its in schema.get("properties", {}).items():
            yield _query_parameter(name, its, is_required=name in schema.get("required", ()))
    for name, meaning in operation.headers.items():
        yield {"name": name, "in": "header", "required": False, "description": meaning, "schema": _TEXT}


def _query_parameter(name: str, schema: dict[str, Any], *, is_required: bool) -> dict[str, Any]:
    # A query cannot say null: what may be left out is just not there.
    kinds = [kind for kind in schema.get("anyOf", []) if kind != {"type": "null"}]
    left_out = ("description", "anyOf", "default") if kinds else ("description",)
    said = {key: value for key, value in schema.items() if key not in left_out}
    plain = said | (kinds[0] if len(kinds) == 1 else {"anyOf": kinds} if kinds else {})
    found = {"name": name, "in": "query", "required": is_required, "schema": plain}
    return found | ({"description": schema["description"]} if "description" in schema else {})


def _reference(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": _REF.format(model=model.__name__)}


def _responses(operation: Operation) -> dict[str, Any]:
    """Return the response objects by status: the good one, and errors with their codes."""
    schema = _TEXT if operation.answer is None else _reference(operation.answer)
    content = {media: {"schema": schema} if media in _WHOLE else {} for media in operation.media}
    good: dict[str, Any] = {"description": operation.summary, "content": content}
    if operation.status == 204:
        del good["content"]
    errors = {
        str(status): {
            "description": "; ".join(f"`{code}`: {CODES[code].meaning}" for code in codes),
            "content": {JSON: {"schema": _reference(ErrorAnswer)}},
        }
        for status, codes in groupby(operation.codes, key=lambda code: CODES[code].status)
    }
    return {str(operation.status): good} | errors
