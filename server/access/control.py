"""Access control: who asks, which role a handler needs, whether they may, and for how long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from aiohttp import web
from aiohttp.web_urldispatcher import StaticResource

from server.access import authentication
from server.access.issuing import Issuing
from server.access.rate_limiter import LOGINS, RateLimiter
from server.access.remote import Remote, check_host, check_not_forwarded, check_origin, remote_of
from server.access.settings import AccessSettings
from server.principal import ANONYMOUS_NAME, LOCAL_NAME, Principal, Role
from server.refusals import ForbiddenError, UnauthorizedError

if TYPE_CHECKING:
    from server.storage.accounts import TokenStore


_Handler = TypeVar("_Handler", bound=Callable[..., Awaitable[Any]])
_NEEDED: Final = "needed_role"
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""


def requires(role: Role | None) -> Callable[[_Handler], _Handler]:
    """Return a decorator that lets only clients with *role*, or more, reach a handler; None lets every client."""

    def declared(handler: _Handler) -> _Handler:
        setattr(handler, _NEEDED, role)
        return handler

    return declared


def needed_role(request: web.Request) -> Role | None:
    """Return the role that *request* needs.

    A handler that declares nothing is for spectators where it changes nothing, and otherwise for admins alone.
    """
    route = request.match_info.route
    if isinstance(route.resource, StaticResource):
        return None
    if request.match_info.http_exception is not None:
        return Role.SPECTATOR
    undeclared = Role.SPECTATOR if request.method in SAFE_METHODS else Role.ADMIN
    found = getattr(route.handler, _NEEDED, undeclared)
    assert found is None or isinstance(found, Role)
    return found


CHECKED_S: Final = 15.0
"""How often the server checks that open requests, such as streams, are still admitted."""


class OpenRequests:
    """The requests that are being answered; *still_admits* returns whether one would still be admitted."""

    def __init__(self, still_admits: Callable[[web.Request], Awaitable[bool]]) -> None:
        self._still_admits = still_admits
        self._requests: dict[asyncio.Task[object], web.Request] = {}

    @contextmanager
    def held(self, request: web.Request) -> Iterator[None]:
        """Count *request* as open while the block answers it."""
        task = asyncio.current_task()
        assert task is not None
        self._requests[task] = request
        try:
            yield
        finally:
            del self._requests[task]

    async def sweep(self) -> None:
        """Cancel the requests whose token was revoked, or whose session is over."""
        for task, request in tuple(self._requests.items()):
            if not await self._still_admits(request) and task in self._requests:
                task.cancel()

    async def run(self, _app: web.Application) -> AsyncIterator[None]:
        """Sweep every now and then, for as long as the application runs."""
        sweeping = asyncio.create_task(self._sweep_on())
        yield
        sweeping.cancel()
        with suppress(asyncio.CancelledError):
            await sweeping

    async def _sweep_on(self) -> None:
        while True:
            await asyncio.sleep(CHECKED_S)
            # A database that does not answer now does so at the next sweep.
            with suppress(Exception):
                await self.sweep()


PRINCIPAL: Final = web.RequestKey("principal", Principal)
REMOTE: Final = web.RequestKey("remote", Remote)
EMBEDDED: Final = web.RequestKey("embedded", bool)
"""Whether other sites may show the answer to who comes without a token: it has no form, no script, nothing private."""

LOCAL_ADMIN: Final = Principal(LOCAL_NAME, Role.ADMIN)
"""The principal of every client on this machine, where no other can reach the server and no token was issued."""
ANONYMOUS: Final = Principal(ANONYMOUS_NAME, Role.SPECTATOR)
"""The principal of a client without a token, where everybody may watch."""


class AccessControl:
    """Authenticates the clients of a server that is reached as *settings* say, and authorizes what they ask for."""

    def __init__(self, settings: AccessSettings, tokens: TokenStore) -> None:
        self.settings = settings
        self.authentication = authentication.Authentication(tokens)
        self.issuing = Issuing(tokens, self.authentication.forget)
        self.rate_limiter = RateLimiter(settings.limits)
        self.open_requests = OpenRequests(self.still_admits)

    async def is_open(self) -> bool:
        """Return whether everybody who can reach the server may do everything."""
        return self.settings.is_private and not await self.authentication.has_any_token()

    async def admit(self, request: web.Request) -> str:
        """Find out who sends *request*, and return the party that it counts for.

        Raises:
            RequestError: it is meant for another host, or its token is not valid.
        """
        remote = request[REMOTE] = remote_of(request, self.settings.proxies)
        check_host(remote, self.settings)
        if await self.is_open():
            check_not_forwarded(request)
            request[PRINCIPAL] = LOCAL_ADMIN
            return ""
        found = await self._authenticated(request, remote)
        if found is not None:
            request[PRINCIPAL] = found
        return found.token_id if found and found.token_id else remote.party

    async def _authenticated(self, request: web.Request, remote: Remote) -> Principal | None:
        """Return the principal by the bearer token of *request*, else by its session, else as an anonymous one."""
        header = request.headers.get("Authorization")
        if header is not None:
            return await self._bearer(header, remote)
        secret = authentication.session_secret(request, remote)
        found = await self.authentication.by_session(secret) if secret else None
        if secret and found:
            request[authentication.SESSION_SECRET] = secret
        return found or (ANONYMOUS if self.settings.is_public else None)

    async def _bearer(self, header: str, remote: Remote) -> Principal:
        found = await self.authentication.by_token(_bearer_text(header))
        if found is None:
            await self.rate_limiter.count_one(LOGINS, remote.party)
            raise UnauthorizedError("the token is not valid")
        return found

    async def still_admits(self, request: web.Request) -> bool:
        """Return whether the client that sent *request*, and was admitted, would still be admitted."""
        if PRINCIPAL not in request:
            return True
        if request[PRINCIPAL] is LOCAL_ADMIN:
            return await self.is_open()
        secret = request.get(authentication.SESSION_SECRET)
        if secret is not None:
            return await self.authentication.by_session(secret) is not None
        text = _bearer_text(request.headers.get("Authorization", ""))
        return request[PRINCIPAL].token_id is None or await self.authentication.by_token(text) is not None

    def check_rights(self, request: web.Request) -> None:
        """Check that the sender of *request* is authorized, and that no page of another site caused it.

        Raises:
            RequestError: the sender is not authorized, or another site caused it.
        """
        needed, found = needed_role(request), request.get(PRINCIPAL)
        if needed is not None and found is None:
            raise UnauthorizedError
        if needed is not None and found is not None and not found.may(needed):
            raise UnauthorizedError if found is ANONYMOUS else ForbiddenError(needed)
        if request.method not in SAFE_METHODS:
            check_origin(request, request[REMOTE])

    async def log_in(self, request: web.Request, text: str) -> bool:
        """Begin a session for the holder of the token *text*, in the answer to *request*; return whether it is valid.

        Raises:
            TooManyRequestsError: too many tokens from there were not valid.
        """
        remote = request[REMOTE]
        found = await self.authentication.by_token(text.strip())
        if found is None or found.token_id is None:
            await self.rate_limiter.count_one(LOGINS, remote.party)
            return False
        life_s = self.settings.session_s
        secret = await self.authentication.begin_session(found.token_id, life_s)
        authentication.keep_session(request, remote, secret, life_s)
        # What the answer shows is already theirs.
        request[PRINCIPAL], request[authentication.SESSION_SECRET] = found, secret
        return True

    async def log_out(self, request: web.Request) -> None:
        """End the session that *request* belongs to, if it does to one."""
        secret = authentication.session_secret(request, request[REMOTE])
        if secret is not None:
            await self.authentication.end_session(secret)
            authentication.drop_session(request, request[REMOTE])

    async def check_form(self, request: web.Request) -> None:
        """Check that a form came from a page of ours, and also a request that nothing but a cookie entitles.

        Raises:
            ForeignRequestError: it did not.
        """
        is_proven = "Authorization" in request.headers
        is_for_programs = request.path.startswith("/api/") and authentication.SESSION_SECRET not in request
        if request.method in SAFE_METHODS or is_proven or is_for_programs:
            return
        sent = request.headers.get(authentication.CSRF_HEADER)
        if sent is None and request.content_type in authentication.FORM_TYPES:
            sent = str((await request.post()).get(authentication.CSRF_FIELD, ""))
        authentication.check_form_token(request, request[REMOTE], sent or "")


def _bearer_text(header: str) -> str:
    scheme, _, text = header.partition(" ")
    return text.strip() if scheme.lower() == "bearer" else ""


ACCESS: Final = web.AppKey("access", AccessControl)
"""The access control of an application."""


def principal(request: web.Request) -> Principal:
    """Return who sends *request*.

    Raises:
        UnauthorizedError: the client is not authenticated.
    """
    if PRINCIPAL not in request:
        raise UnauthorizedError
    return request[PRINCIPAL]


def csrf_token(request: web.Request) -> str:
    """Return what a form on the page that answers *request* has to carry in its field `csrf_token`.

    Scripts send it as the header `X-CSRF-Token`.
    """
    return authentication.form_token(request, request[REMOTE])
