"""Operations of the JSON API: each declared once, from which come its route, its checks and its OpenAPI description.

A handler is a coroutine function; the names of its parameters say what they are, their types what they may be:

- `request`: the request itself;
- `query`: a pydantic model of the query's parameters;
- `body`: a pydantic model of the JSON body;
- any other: the parameter of that name in the path.

It returns a pydantic model, which is sent as JSON by alias, without the keys that the handler did not set; or a
response of its own, and then `answer` says what is in it. The first line of its docstring is the summary, the rest
the description. Errors are raised: `RequestError`, or one that `server.api.problem` knows, with a code of its table.

    games = Operations("games")

    @games.get("/api/v1/games/{name}", errors=["unknown_game"])
    async def read_game(request: web.Request, name: str, query: VersionQuery) -> GameAnswer:
        \"\"\"Describe a game of the library, or one that was uploaded.\"\"\"

    games.add_to(app)
"""

from __future__ import annotations

import asyncio
import difflib
import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, TypeVar, get_type_hints

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from gdl.errors import validation_details, validation_message
from gdl.toml import toml_of
from server.access.settings import SAFE_METHODS, requires
from server.api.problem import ALWAYS, CHANGING, CODES, WITH_BODY
from server.principal import Role
from server.refusals import RequestError, SlowRequestError
from server.sanitization import CleanName

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from server.hosting.game_manager import GameManager
    from server.hosting.imports import GameImports
    from server.leaderboards.leaderboards import Leaderboards
    from server.spectating.overview import Overview
    from server.spectating.stream import MatchFeeds
    from server.validating.checker import Checker

TOML: Final = "application/toml"
FromToml: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Makes of the keys of a file the fields of the model of a body."""
_TOML_PLACE: Final = re.compile(r"\(at line (\d+), column (\d+)\)")


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


OPERATIONS: Final[web.AppKey[list[Operation]]] = web.AppKey("operations")
"""What the API can do: what its OpenAPI document is made of."""
MANAGER: Final[web.AppKey[GameManager]] = web.AppKey("manager")
"""The game manager, which plays the matches."""
CHECKER: Final[web.AppKey[Checker]] = web.AppKey("checker")
"""Validates rules that clients send."""
IMPORTS: Final[web.AppKey[GameImports]] = web.AppKey("imports")
LEADERBOARDS: Final[web.AppKey[Leaderboards]] = web.AppKey("leaderboards")
OVERVIEW: Final[web.AppKey[Overview]] = web.AppKey("overview")
"""The overview of all matches."""
FEEDS: Final[web.AppKey[MatchFeeds]] = web.AppKey("feeds")


Name: TypeAlias = Annotated[CleanName, Field(min_length=1, max_length=100)]
MatchId: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
Ms: TypeAlias = Annotated[int, Field(description="milliseconds since 1970")]


class RequestModel(BaseModel):
    """The body or the query of a request: keys in camel case, and no others."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True)


class ResponseModel(BaseModel):
    """The body of a response; keys that are left out are not known, or not public yet."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, frozen=True)


class ExtensibleModel(ResponseModel):
    """The body of a response that may have further keys, described elsewhere."""

    model_config = ConfigDict(extra="allow")


def without_none(value: dict[str, Any]) -> dict[str, Any]:
    """Return *value* without what is None: keys that are left out."""
    return {name: one for name, one in value.items() if one is not None}


JSON: Final = "application/json"
BODY_LIMIT_S: Final = 30.0
_MAX_WHERE: Final = 200
_PLACE: Final = re.compile(r"\{(\w+)\}")
_Handler: TypeAlias = Callable[..., Awaitable[Any]]
_H = TypeVar("_H", bound=_Handler)
_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """One thing that the API can do; it equals itself alone.

    Attributes:
        path: with `{name}` where a parameter stands.
        role: the least role that may ask for it; None: no token is needed.
        answer: the model of the answer; None where it is text.
        media: the types of content that the answer may have.
        errors: codes of what may go wrong besides what always may.
        invalid: the code of a body that is JSON, but not what is wanted.
        from_toml: how the body is read where it is TOML; None where it may not be.
        headers: what headers of the request change, by name.
        is_deprecated: whether it is the old name of another one, kept for programs that use it.
    """

    tag: str
    method: str
    path: str
    handler: _Handler
    role: Role | None = Role.SPECTATOR
    status: int = 200
    answer: type[BaseModel] | None = None
    media: tuple[str, ...] = (JSON,)
    errors: tuple[str, ...] = ()
    invalid: str = "invalid_body"
    from_toml: FromToml | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_deprecated: bool = False

    @property
    def name(self) -> str:
        """What the operation is called."""
        return self.handler.__name__.lstrip("_")

    @property
    def summary(self) -> str:
        """What it does, in a line; its name where Python leaves docstrings out (`-OO`)."""
        return (inspect.getdoc(self.handler) or self.name).partition("\n")[0]

    @property
    def description(self) -> str:
        """What else there is to say."""
        return (inspect.getdoc(self.handler) or "").partition("\n")[2].strip()

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The types of the handler's parameters, by name."""
        return _parameters(self.handler)

    @property
    def path_types(self) -> dict[str, Any]:
        """The types of the path's parameters, by name."""
        return {name: self.parameters[name] for name in _PLACE.findall(self.path)}

    @property
    def query(self) -> type[BaseModel] | None:
        """The model of the query's parameters."""
        return self.parameters.get("query")

    @property
    def body(self) -> type[BaseModel] | None:
        """The model of the body."""
        return self.parameters.get("body")

    @property
    def taken(self) -> tuple[str, ...]:
        """The types of content that the body may have."""
        return (JSON,) if self.from_toml is None else (JSON, TOML)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of all that may go wrong, by status."""
        found = {*self.errors, *ALWAYS}
        found |= {"invalid_query"} if self.path_types or self.query else set()
        found |= {*WITH_BODY, self.invalid} if self.body else set()
        found |= {"invalid_toml"} if self.from_toml else set()
        found |= set(CHANGING) if self.method not in SAFE_METHODS else set()
        found |= {"unauthorized", "forbidden"} if self.role is not None else set()
        return tuple(sorted(found, key=lambda code: (CODES[code].status, code)))


@cache
def _parameters(handler: _Handler) -> Mapping[str, Any]:
    types = get_type_hints(handler, include_extras=True)
    return {name: types[name] for name in inspect.signature(handler).parameters}


class Operations:
    """A table of operations under one *tag*: declare them with `get`, `post`, ..., then `add_to` an application."""

    def __init__(self, tag: str) -> None:
        self._tag = tag
        self._operations: list[Operation] = []

    def get(self, path: str, **how: Any) -> Callable[[_H], _H]:
        """Declare what GET does; *how* has what `Operation` tells."""
        return self.declare("GET", path, **how)

    def post(self, path: str, **how: Any) -> Callable[[_H], _H]:
        """Declare what POST does; *how* has what `Operation` tells."""
        return self.declare("POST", path, **how)

    def put(self, path: str, **how: Any) -> Callable[[_H], _H]:
        """Declare what PUT does; *how* has what `Operation` tells."""
        return self.declare("PUT", path, **how)

    def delete(self, path: str, **how: Any) -> Callable[[_H], _H]:
        """Declare what DELETE does; *how* has what `Operation` tells."""
        return self.declare("DELETE", path, **how)

    def declare(
        self, method: str, path: str, *, errors: Sequence[str] = (), media: Sequence[str] = (JSON,), **how: Any
    ) -> Callable[[_H], _H]:
        """Declare what *method* does at *path*."""

        def declared(handler: _H) -> _H:
            assert handler.__doc__, f"{handler.__name__} has no docstring, which is its summary"
            answer = how.pop("answer", None) or _model(get_type_hints(handler).get("return"))
            operation = Operation(
                self._tag, method, path, handler, answer=answer, media=tuple(media), errors=tuple(errors), **how
            )
            assert all(code in CODES for code in operation.codes)
            self._operations.append(operation)
            return handler

        return declared

    def add_to(self, app: web.Application) -> None:
        """Add the routes to *app*, and the operations to what its OpenAPI document describes."""
        for operation in self._operations:
            # The router takes no braces in a parameter unless it is told to; names of roles may have some.
            path = _PLACE.sub(r"{\1:[^/]+}", operation.path)
            app.router.add_route(operation.method, path, _route(operation))
        app.setdefault(OPERATIONS, []).extend(self._operations)


def _model(answer: Any) -> type[BaseModel] | None:
    return answer if isinstance(answer, type) and issubclass(answer, BaseModel) else None


@cache
def _route(operation: Operation) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """Return the handler for aiohttp: it reads path, query and body by the models of *operation*, and calls it."""
    names = operation.parameters
    path_types = {name: TypeAdapter(kind) for name, kind in operation.path_types.items()}
    query, body = operation.query, operation.body

    @requires(operation.role)
    async def handle(request: web.Request) -> web.StreamResponse:
        found: dict[str, Any] = _read_path(request, path_types)
        if "request" in names:
            found["request"] = request
        if query is not None:
            found["query"] = _read_query(request, query)
        if body is not None:
            found["body"] = await _read_body(request, body, operation)
        return _answered(await operation.handler(**found), operation.status)

    handle.__doc__ = operation.handler.__doc__
    return handle


def _read_path(request: web.Request, types: dict[str, TypeAdapter[Any]]) -> dict[str, Any]:
    """Return the path's parameters.

    Raises:
        RequestError: one is not what it may be.
    """
    return {name: _path_value(request.match_info[name], name, adapter) for name, adapter in types.items()}


def _path_value(text: str, name: str, adapter: TypeAdapter[Any]) -> Any:
    try:
        return adapter.validate_python(text)
    except ValidationError as error:
        raise RequestError("invalid_query", f"{name}: {validation_message(validation_details(error)[0])}") from error


def _read_query(request: web.Request, model: type[_Model]) -> _Model:
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
        raise _refused(validation_details(error), _aliases(model), "invalid_query") from error


async def _read_body(request: web.Request, model: type[_Model], operation: Operation) -> _Model:
    """Return what the body says, which is JSON, or TOML where *operation* takes that.

    Raises:
        RequestError: it is something else, or does not arrive in time.
    """
    code, from_toml = operation.invalid, operation.from_toml
    raw = await _raw(request, operation.taken)
    is_toml = request.content_type == TOML
    try:
        if from_toml is not None and is_toml:
            return model.model_validate(from_toml(toml_fields(raw)), by_alias=False, by_name=True)
        return model.model_validate_json(raw, strict=True)
    except ValidationError as error:
        errors = validation_details(error)
        if errors[0]["type"] == "json_invalid":
            raise RequestError("invalid_json", f"the body is no JSON: {errors[0]['ctx']['error']}") from error
        raise _refused(errors, model.model_fields if is_toml else _aliases(model), code) from error


async def _raw(request: web.Request, taken: Sequence[str]) -> bytes:
    """Return the bytes of the body, which is of one of the types *taken*.

    Raises:
        RequestError: it is of another type, or did not arrive in time.
    """
    # A page from elsewhere cannot send these types without asking first, and is then refused.
    if request.content_type not in taken:
        named = " or ".join(taken)
        raise RequestError("unsupported_media_type", f"the body must be {named}", f"send Content-Type: {named}", 415)
    try:
        async with asyncio.timeout(BODY_LIMIT_S):
            return await request.read()
    except TimeoutError:
        raise SlowRequestError(BODY_LIMIT_S) from None


def _refused(errors: Sequence[ErrorDetails], known: Iterable[str], code: str) -> RequestError:
    """Return the refusal for the first of *errors*; an unknown key, which may be a missing one, comes before others."""
    first = next((each for each in errors if each["type"] == "extra_forbidden"), errors[0])
    where, message = ".".join(map(str, first["loc"]))[:_MAX_WHERE], validation_message(first)
    hint = _hint(where, known) if first["type"] == "extra_forbidden" else ""
    return RequestError(code, f"{where}: {message}" if where else message, hint)


def _aliases(model: type[BaseModel]) -> Iterable[str]:
    return (field.alias or name for name, field in model.model_fields.items())


def _hint(key: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(key, list(known))
    return f"did you mean {near[0]}?" if near else ""


def _answered(answer: BaseModel | web.StreamResponse, status: int = 200) -> web.StreamResponse:
    """Return *answer* as a response; one that tells the `url` of what was made has it as Location, too."""
    if isinstance(answer, web.StreamResponse):
        return answer
    text = answer.model_dump_json(by_alias=True, exclude_unset=True)
    made = getattr(answer, "url", None) if status == web.HTTPCreated.status_code else None
    return web.Response(text=text, status=status, content_type=JSON, headers={"Location": made} if made else None)
