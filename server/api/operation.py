"""Operations of the JSON API: each declared once, from which come its route, its checks and its OpenAPI description.

A handler is a coroutine function; the names of its parameters say what they are, their types what they may be:

- `request`: the request itself;
- `query`: a pydantic model of the query's parameters;
- `body`: a pydantic model of the JSON body;
- any other: the parameter of that name in the path.

It returns a pydantic model, which is sent as JSON by alias, without the keys that the handler did not set; or a
response of its own, and then `answer` says what is in it. The first line of its docstring is the summary, the rest
the description. Errors are raised: `RequestError`, or one that `server.api.refusals` knows, with a code of
`server.api.codes`.

    games = Operations("games")

    @games.get("/api/v1/games/{name}", errors=["unknown_game"])
    async def read_game(request: web.Request, name: str, query: VersionQuery) -> GameAnswer:
        \"\"\"Tell about a game of the library, or one that was uploaded.\"\"\"

    games.add_to(app)
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeVar, get_type_hints

from aiohttp import web
from pydantic import BaseModel, TypeAdapter

from server.access.rights import SAFE_METHODS, requires
from server.access.role import Role
from server.api.arguments import read_body, read_path, read_query
from server.api.codes import ALWAYS, CHANGING, CODES, WITH_BODY
from server.api.keys import OPERATIONS

JSON: Final = "application/json"
_PLACE: Final = re.compile(r"\{(\w+)\}")
_Handler: TypeAlias = Callable[..., Awaitable[Any]]
_H = TypeVar("_H", bound=_Handler)


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that the API can do.

    Attributes:
        path: with `{name}` where a parameter stands.
        role: the least role that may ask for it; None: anybody at all.
        answer: the model of the answer; None where it is text.
        media: the types of content that the answer may have.
        errors: codes of what may go wrong besides what always may.
        invalid: the code of a body that is JSON, but not what is wanted.
        headers: what headers of the request change, by name.
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
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the operation is called."""
        return self.handler.__name__.lstrip("_")

    @property
    def summary(self) -> str:
        """What it does, in a line."""
        return inspect.getdoc(self.handler).partition("\n")[0]  # type: ignore[union-attr]  # `Operations` saw it

    @property
    def description(self) -> str:
        """What else there is to say."""
        return (inspect.getdoc(self.handler) or "").partition("\n")[2].strip()

    @property
    def parameters(self) -> dict[str, Any]:
        """The types of the handler's parameters, by name."""
        types = get_type_hints(self.handler, include_extras=True)
        return {name: types[name] for name in inspect.signature(self.handler).parameters}

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
    def codes(self) -> tuple[str, ...]:
        """The codes of all that may go wrong, by status."""
        found = {*self.errors, *ALWAYS}
        found |= {"invalid_query"} if self.path_types or self.query else set()
        found |= {*WITH_BODY, self.invalid} if self.body else set()
        found |= set(CHANGING) if self.method not in SAFE_METHODS else set()
        found |= {"unauthorized", "forbidden"} if self.role is not None else set()
        return tuple(sorted(found, key=lambda code: (CODES[code].status, code)))


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
            app.router.add_route(operation.method, operation.path, _route(operation))
        app.setdefault(OPERATIONS, []).extend(self._operations)


def _model(answer: Any) -> type[BaseModel] | None:
    return answer if isinstance(answer, type) and issubclass(answer, BaseModel) else None


def _route(operation: Operation) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    names = operation.parameters
    path_types = {name: TypeAdapter(kind) for name, kind in operation.path_types.items()}
    query, body = operation.query, operation.body

    @requires(operation.role)
    async def handle(request: web.Request) -> web.StreamResponse:
        found: dict[str, Any] = read_path(request, path_types)
        if "request" in names:
            found["request"] = request
        if query is not None:
            found["query"] = read_query(request, query)
        if body is not None:
            found["body"] = await read_body(request, body, operation.invalid)
        return answered(await operation.handler(**found), operation.status)

    handle.__doc__ = operation.handler.__doc__
    return handle


def answered(answer: BaseModel | web.StreamResponse, status: int = 200) -> web.StreamResponse:
    """Return *answer* as a response; one that tells the `url` of what was made has it as Location, too."""
    if isinstance(answer, web.StreamResponse):
        return answer
    text = answer.model_dump_json(by_alias=True, exclude_unset=True)
    made = getattr(answer, "url", None) if status == web.HTTPCreated.status_code else None
    return web.Response(text=text, status=status, content_type=JSON, headers={"Location": made} if made else None)
