"""Why a request is refused: errors of the caller that have the status of the answer, and what else it tells."""

import math
from dataclasses import field
from typing import ClassVar

from gdl.errors import CallerError, UnknownNameError, derived
from server.principal import Role


class RequestError(CallerError):
    """A request that is refused; `status` is the HTTP status of the answer, `headers` what else it has to have.

    `place` has the `line` and the `column` of the body in which something is wrong, where they are known.
    """

    template: ClassVar[str] = "{message}"
    code: str
    message: str
    hint: str = ""
    status: int = 400
    place: dict[str, int] = field(init=False, default_factory=dict)
    headers: dict[str, str] = field(init=False, default_factory=dict)


class UnauthorizedError(RequestError):
    """No token came, or none that is valid."""

    code: str = derived("unauthorized")
    message: str = "a token is needed here"
    hint: str = "send Authorization: Bearer TOKEN, or log in at /login"
    status: int = derived(401)

    def __post_init__(self) -> None:
        """Name the way to authenticate, as HTTP asks for."""
        super().__post_init__()
        self.headers["WWW-Authenticate"] = 'Bearer realm="ggp"'


class ForbiddenError(RequestError):
    """The token of a request is valid, but has not the role that is *needed*."""

    code: str = derived("forbidden")
    message: str = derived("only a token with the role {needed.word} may do this")
    hint: str = derived("")
    status: int = derived(403)
    needed: Role


class ForeignRequestError(RequestError):
    """A browser sends this for a page that is not ours, or with a form that is not from here."""

    code: str = derived("foreign_request")
    status: int = derived(403)


class WrongHostError(RequestError):
    """The request names a host that this server is not: a foreign name may lead a browser here."""

    code: str = derived("wrong_host")
    message: str = derived("{host[:100]!r} is not the name of this server")
    hint: str = derived("use the address that `ggp serve` printed, or name this host with --server-name")
    status: int = derived(421)
    host: str


class TooManyRequestsError(RequestError):
    """A client has sent too many requests; after `wait_s` it may send the next."""

    code: str = derived("too_many_requests")
    message: str = derived("too many {what}")
    hint: str = derived("wait for {wait_s} s")
    status: int = derived(429)
    what: str
    wait_s: float

    def __post_init__(self) -> None:
        """Round the wait up to whole seconds, and put it into the headers."""
        self.wait_s = max(1, math.ceil(self.wait_s))
        super().__post_init__()
        self.headers["Retry-After"] = str(self.wait_s)


class SlowRequestError(RequestError):
    """The body of a request did not arrive in time."""

    code: str = derived("timeout")
    message: str = derived("the body did not arrive within {limit_s:g} s")
    hint: str = derived("")
    status: int = derived(408)
    limit_s: float


class UnknownTokenError(RequestError):
    """No token has that public id."""

    code: str = derived("unknown_token")
    message: str = derived("no token {token_id[:100]!r}")
    hint: str = derived("`ggp token list` lists them")
    status: int = derived(404)
    token_id: str


class TokenRuleError(RequestError):
    """The change would leave the server with tokens of which none may administer it."""

    code: str = derived("no_admin")
    hint: str = derived("")
    status: int = derived(409)


class ListedRoleError(UnknownNameError):
    """A line of a class list gives a role that there is not."""

    template: ClassVar[str] = f"line {{line}}: {UnknownNameError.template}"
    line: int = 0


class TokenFieldError(RequestError):
    """A name, a note or a time for a token that none can have; `line` is that of a class list, 0 for none."""

    template: ClassVar[str] = "{message}"
    code: str = derived("invalid_token")
    hint: str = derived("")
    status: int = derived(400)
    line: int = 0

    def __post_init__(self) -> None:
        """Put the line before the message."""
        if self.line:
            self.message = f"line {self.line}: {self.message}"
        super().__post_init__()
