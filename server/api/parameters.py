"""The parameters of an operation, read from path, query and body of a request by pydantic models, or refused."""

from __future__ import annotations

import asyncio
import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from aiohttp import web
from pydantic import BaseModel, TypeAdapter, ValidationError

from gdl.toml import toml_of
from gdl.violations import (
    first_violation,
    is_unknown_key,
    violation_message,
    violation_path,
    violation_place,
    violation_text,
    violations,
)
from server.refusals import RequestError, SlowRequestError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Model = TypeVar("Model", bound=BaseModel)
JSON: Final = "application/json"
TOML: Final = "application/toml"
FromToml: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Makes of the keys of a file the fields of the model of a body."""
_TOML_PLACE: Final = re.compile(r"\(at line (\d+), column (\d+)\)")
BODY_LIMIT_S: Final = 30.0
_MAX_WHERE: Final = 200


def taken_with(from_toml: FromToml | None) -> tuple[str, ...]:
    """Return the types of content that a body may have; that is TOML, too, where *from_toml* says how it is read."""
    return (JSON,) if from_toml is None else (JSON, TOML)


def read_path(request: web.Request, types: dict[str, TypeAdapter[Any]]) -> dict[str, Any]:
    """Return the path's parameters.

    Raises:
        RequestError: one is not what it may be.
    """
    return {name: _path_value(request.match_info[name], name, adapter) for name, adapter in types.items()}


def _path_value(text: str, name: str, adapter: TypeAdapter[Any]) -> Any:
    try:
        return adapter.validate_python(text)
    except ValidationError as error:
        raise RequestError("invalid_query", f"{name}: {violation_message(violations(error)[0])}") from error


def read_query(request: web.Request, model: type[Model]) -> Model:
    """Return what the query says.

    Raises:
        RequestError: a parameter is unknown, not what it may be, or there twice.
    """
    twice = [name for name in request.query if len(request.query.getall(name)) > 1]
    if twice:
        raise RequestError("invalid_query", f"{twice[0][:_MAX_WHERE]}: given twice")
    try:
        return model.model_validate(dict(request.query))
    except ValidationError as error:
        raise _refused(first_violation(error), _aliases(model), "invalid_query") from error


async def read_body(
    request: web.Request, model: type[Model], invalid: str, from_toml: FromToml | None, default: Model | None = None
) -> Model:
    """Return what the body says, which is JSON, or TOML where *from_toml* says how it is read.

    *invalid* is the code of a body that is JSON, but not what is wanted; *default* is what an empty one says, whatever
    its type, or None where it may not be empty.

    Raises:
        RequestError: it is something else, or does not arrive in time.
    """
    raw = await _raw(request)
    if default is not None and not raw:
        return default
    _check_type(request, taken_with(from_toml))
    is_toml = request.content_type == TOML
    try:
        if from_toml is not None and is_toml:
            return model.model_validate(from_toml(toml_fields(raw)), by_alias=False, by_name=True)
        return model.model_validate_json(raw, strict=True)
    except ValidationError as error:
        first = first_violation(error)
        if first["type"] == "json_invalid":
            raise RequestError("invalid_json", f"the body is no JSON: {first['ctx']['error']}") from error
        raise _refused(first, model.model_fields if is_toml else _aliases(model), invalid) from error


def _check_type(request: web.Request, taken: Sequence[str]) -> None:
    """Check that the body is of one of the types *taken*.

    Raises:
        RequestError: it is of another type.
    """
    # A page from elsewhere cannot send these types without asking first, and is then refused.
    if request.content_type not in taken:
        named = " or ".join(taken)
        raise RequestError("unsupported_media_type", f"the body must be {named}", f"send Content-Type: {named}", 415)


async def _raw(request: web.Request) -> bytes:
    """Return the bytes of the body.

    Raises:
        RequestError: it did not arrive in time.
    """
    try:
        async with asyncio.timeout(BODY_LIMIT_S):
            return await request.read()
    except TimeoutError:
        raise SlowRequestError(BODY_LIMIT_S) from None


def _refused(violation: ErrorDetails, known: Iterable[str], code: str) -> RequestError:
    is_of_these = is_unknown_key(violation) and len(violation_place(violation)) == 1
    hint = _hint(violation_path(violation), known) if is_of_these else ""
    return RequestError(code, violation_text(violation), hint)


def _aliases(model: type[BaseModel]) -> Iterable[str]:
    return (field.alias or name for name, field in model.model_fields.items())


def _hint(key: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(key, list(known))
    return f"did you mean {near[0]}?" if near else ""


def toml_fields(raw: bytes) -> dict[str, Any]:
    """Return what a body in TOML says.

    Raises:
        RequestError: it is no TOML; the error has line and column, where they are known.
    """
    try:
        return toml_of(raw.decode("utf-8"))
    except ValueError as error:
        refused = RequestError("invalid_toml", f"the body is no TOML: {error}")
        if place := _TOML_PLACE.search(str(error)):
            refused.place.update(line=int(place[1]), column=int(place[2]))
        raise refused from error
