"""What a request says, checked against pydantic types: its path, its query, its body."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Iterable
from typing import Any, Final, TypeVar

from aiohttp import web
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from gdl.complaints import complaint
from server.errors import RequestError

MAX_BODY_BYTES: Final = 2_000_000
BODY_LIMIT_S: Final = 30.0
_MAX_WHERE: Final = 200
_JSON: Final = "application/json"
Model = TypeVar("Model", bound=BaseModel)


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
        raise RequestError("invalid_query", f"{name}: {complaint(error.errors()[0])}") from error


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
        raise _refused(error.errors()[0], model, "invalid_query") from error


async def read_body(request: web.Request, model: type[Model], code: str) -> Model:
    """Return what the JSON body says; *code* is that of the error if it is JSON, but not such.

    Raises:
        RequestError: it is something else, or does not arrive in time.
    """
    raw = await _raw(request)
    try:
        return model.model_validate_json(raw, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            raise RequestError("invalid_json", f"the body is no JSON: {first['ctx']['error']}") from error
        raise _refused(first, model, code) from error


async def _raw(request: web.Request) -> bytes:
    # A page from elsewhere cannot send this type without asking first, and is then told no.
    if request.content_type != _JSON:
        raise RequestError("unsupported_media_type", "the body must be JSON", f"send Content-Type: {_JSON}", 415)
    try:
        async with asyncio.timeout(BODY_LIMIT_S):
            return await request.read()
    except TimeoutError:
        raise RequestError("timeout", f"the body did not arrive within {BODY_LIMIT_S:g} s", status=408) from None


def _refused(first: ErrorDetails, model: type[BaseModel], code: str) -> RequestError:
    where, message = ".".join(map(str, first["loc"]))[:_MAX_WHERE], complaint(first)
    hint = _hint(where, _names(model)) if first["type"] == "extra_forbidden" else ""
    return RequestError(code, f"{where}: {message}" if where else message, hint)


def _names(model: type[BaseModel]) -> Iterable[str]:
    return (field.alias or name for name, field in model.model_fields.items())


def _hint(key: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(key, list(known))
    return f"did you mean {near[0]}?" if near else ""
