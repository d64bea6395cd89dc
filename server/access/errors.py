"""What people and programs are told when access is refused, and what may be wrong with tokens."""

from __future__ import annotations

import math

from gdl.errors import CallerError
from server.access.role import Role
from server.errors import RequestError


class UnauthorizedError(RequestError):
    """No token came, or none that is valid."""

    def __init__(self, message: str = "a token is needed here") -> None:
        super().__init__("unauthorized", message, "send Authorization: Bearer TOKEN, or log in at /login", 401)
        self.headers["WWW-Authenticate"] = 'Bearer realm="ggp"'


class ForbiddenError(RequestError):
    """Whoever asks is known, but has not the role that is *needed*."""

    def __init__(self, needed: Role) -> None:
        super().__init__("forbidden", f"only a token with the role {needed.word} may do this", status=403)
        self.needed = needed


class ForeignRequestError(RequestError):
    """A browser sends this for a page that is not ours, or with a form that is not from here."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__("foreign_request", message, hint, 403)


class WrongHostError(RequestError):
    """The request names a host that this server is not: somebody's name may lead a browser here."""

    def __init__(self, host: str) -> None:
        hint = "use the address that `ggp serve` printed, or name this host with --server-name"
        super().__init__("wrong_host", f"{host[:100]!r} is not the name of this server", hint, 421)
        self.host = host


class TooManyRequestsError(RequestError):
    """Whoever asks has asked too often; `wait_s` is after how long it may again."""

    def __init__(self, what: str, wait_s: float) -> None:
        self.wait_s = max(1, math.ceil(wait_s))
        super().__init__("too_many_requests", f"too many {what}", f"wait for {self.wait_s} s", 429)
        self.headers["Retry-After"] = str(self.wait_s)


class SlowRequestError(RequestError):
    """The body of a request did not arrive in time."""

    def __init__(self, limit_s: float) -> None:
        super().__init__("timeout", f"the body did not arrive within {limit_s:g} s", status=408)


class UnknownTokenError(RequestError):
    """No token has that public id."""

    def __init__(self, token_id: str) -> None:
        super().__init__("unknown_token", f"no token {token_id[:100]!r}", "`ggp token list` lists them", 404)
        self.token_id = token_id


class TokenRuleError(RequestError):
    """What is asked for would leave the server with tokens, and with nobody who may administer it."""

    def __init__(self, message: str) -> None:
        super().__init__("no_admin", message, status=409)


class TokenFieldError(RequestError):
    """A name, a note or a time for a token that none can have; `line` is that of a class list, 0 for none."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__("invalid_token", f"line {line}: {message}" if line else message)
        self.line = line


class NoAdminError(CallerError):
    """Others can reach the server, and nobody has a token to administer it; `command` issues one."""

    def __init__(self, host: str, command: str) -> None:
        super().__init__(host, command)
        self.host, self.command = host, command

    def __str__(self) -> str:
        return (
            f"others may reach {self.host}, and nobody has an admin token yet; issue one, and start again:\n"
            f"    {self.command}"
        )
