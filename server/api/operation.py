"""Operations of the JSON API: each declared once, from which come its route, its checks and its OpenAPI description.

A handler is a coroutine function; the names of its parameters say what they are, their types what they may be:

- `request`: the request itself;
- `query`: a pydantic model of the query's parameters;
- `body`: a pydantic model of the JSON body; one with a default may be left out;
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

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Final, TypeAlias, TypeVar, get_type_hints

from aiohttp import hdrs, web
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pydantic.alias_generators import to_camel

from server.access.control import SAFE_METHODS, requires
from server.api.parameters import JSON, FromToml, read_body, read_path, read_query, taken_with
from server.api.problem import ALWAYS, CHANGING, CODES, WITH_BODY
from server.principal import Role
from server.sanitization import CleanName

OPERATIONS: Final[web.AppKey[list[Operation]]] = web.AppKey("operations")
"""What the API can do: what its OpenAPI document is made of."""
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


_PLACE: Final = re.compile(r"\{(\w+)\}")
_Handler: TypeAlias = Callable[..., Awaitable[Any]]
_H = TypeVar("_H", bound=_Handler)


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
    def default_body(self) -> BaseModel | None:
        """What a request without a body says; None where it needs one."""
        found = inspect.signature(self.handler).parameters["body"].default if self.body else None
        return found if isinstance(found, BaseModel) else None

    @property
    def taken(self) -> tuple[str, ...]:
        """The types of content that the body may have."""
        return taken_with(self.from_toml)

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
            handler = _route(operation)
            app.router.add_route(operation.method, path, handler)
            if operation.method == hdrs.METH_GET:
                app.router.add_head(path, handler)
        app.setdefault(OPERATIONS, []).extend(self._operations)


def _model(answer: Any) -> type[BaseModel] | None:
    return answer if isinstance(answer, type) and issubclass(answer, BaseModel) else None


@cache
def _route(operation: Operation) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """Return the handler for aiohttp: it reads path, query and body by the models of *operation*, and calls it."""
    names = operation.parameters
    path_types = {name: TypeAdapter(kind) for name, kind in operation.path_types.items()}
    query, body, default_body = operation.query, operation.body, operation.default_body

    @requires(operation.role)
    async def handle(request: web.Request) -> web.StreamResponse:
        found: dict[str, Any] = read_path(request, path_types)
        if "request" in names:
            found["request"] = request
        if query is not None:
            found["query"] = read_query(request, query)
        if body is not None:
            found["body"] = await read_body(request, body, operation.invalid, operation.from_toml, default_body)
        return _answered(await operation.handler(**found), operation.status)

    handle.__doc__ = operation.handler.__doc__
    return handle


def _answered(answer: BaseModel | web.StreamResponse, status: int = 200) -> web.StreamResponse:
    """Return *answer* as a response; one that tells the `url` of what was made has it as Location, too."""
    if isinstance(answer, web.StreamResponse):
        return answer
    text = answer.model_dump_json(by_alias=True, exclude_unset=True)
    made = getattr(answer, "url", None) if status == web.HTTPCreated.status_code else None
    return web.Response(text=text, status=status, content_type=JSON, headers={"Location": made} if made else None)
