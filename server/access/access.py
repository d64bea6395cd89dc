"""Access to a server: who asks, and whether they may."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aiohttp import web

from server.access.errors import ForbiddenError, UnauthorizedError
from server.access.issuing import Issuing
from server.access.lasting import Lasting
from server.access.origin import check_host, check_not_forwarded, check_origin
from server.access.pace import LOGINS, Pace
from server.access.recognition import Recognition
from server.access.remote import Remote, remote_of
from server.access.rights import SAFE_METHODS, needed_role
from server.access.role import Principal, Role
from server.access.sessions import (
    CSRF_FIELD,
    CSRF_HEADER,
    FORM_TYPES,
    SESSION_SECRET,
    check_form_token,
    drop_session,
    form_token,
    keep_session,
    session_secret,
)
from server.access.settings import AccessSettings

if TYPE_CHECKING:
    from server.storage.tokens import TokenStore

PRINCIPAL: Final = web.RequestKey("principal", Principal)
REMOTE: Final = web.RequestKey("remote", Remote)

NEIGHBOUR: Final = Principal("local", Role.ADMIN)
"""Anybody on this machine, where nobody else can reach the server and no token was issued."""
PASSER_BY: Final = Principal("anonymous", Role.SPECTATOR)
"""Anybody at all, where everybody may watch."""


class Access:
    """Decides who may do what on a server that is reached as *settings* say."""

    def __init__(self, settings: AccessSettings, tokens: TokenStore) -> None:
        self.settings = settings
        self.recognition = Recognition(tokens)
        self.issuing = Issuing(tokens, self.recognition.forget)
        self.pace = Pace(settings.limits)
        self.lasting = Lasting(self.still_admits)

    async def is_open(self) -> bool:
        """Return whether everybody who can reach the server may do everything."""
        return self.settings.is_private and not await self.recognition.has_any_token()

    async def admit(self, request: web.Request) -> str:
        """Find out who sends *request*, and return the party that it counts for.

        Raises:
            RequestError: it is sent to somebody else, or with a token that is not valid.
        """
        remote = request[REMOTE] = remote_of(request, self.settings.proxies)
        check_host(remote, self.settings)
        if await self.is_open():
            check_not_forwarded(request)
            request[PRINCIPAL] = NEIGHBOUR
            return ""
        found = await self._recognised(request, remote)
        if found is not None:
            request[PRINCIPAL] = found
        return found.token_id if found and found.token_id else remote.party

    async def _recognised(self, request: web.Request, remote: Remote) -> Principal | None:
        header = request.headers.get("Authorization")
        if header is not None:
            return await self._bearer(header, remote)
        secret = session_secret(request, remote)
        found = await self.recognition.by_session(secret) if secret else None
        if secret and found:
            request[SESSION_SECRET] = secret
        return found or (PASSER_BY if self.settings.is_public else None)

    async def _bearer(self, header: str, remote: Remote) -> Principal:
        found = await self.recognition.by_token(_bearer_text(header))
        if found is None:
            await self.pace.count_one(LOGINS, remote.party)
            raise UnauthorizedError("the token is not valid")
        return found

    async def still_admits(self, request: web.Request) -> bool:
        """Return whether whoever sends *request*, and was let in, still would be."""
        if PRINCIPAL not in request:
            return True
        if request[PRINCIPAL] is NEIGHBOUR:
            return await self.is_open()
        secret = request.get(SESSION_SECRET)
        if secret is not None:
            return await self.recognition.by_session(secret) is not None
        text = _bearer_text(request.headers.get("Authorization", ""))
        return request[PRINCIPAL].token_id is None or await self.recognition.by_token(text) is not None

    def check_rights(self, request: web.Request) -> None:
        """Check that whoever sends *request* may, and that it was not a page of another site that made them.

        Raises:
            RequestError: they may not.
        """
        needed, found = needed_role(request), request.get(PRINCIPAL)
        if needed is not None and found is None:
            raise UnauthorizedError
        if needed is not None and found is not None and not found.may(needed):
            raise UnauthorizedError if found is PASSER_BY else ForbiddenError(needed)
        if request.method not in SAFE_METHODS:
            check_origin(request, request[REMOTE])

    async def log_in(self, request: web.Request, text: str) -> bool:
        """Begin a session for who has the token *text*, with the answer to *request*; return whether it is valid.

        Raises:
            TooManyRequestsError: too many were not.
        """
        remote = request[REMOTE]
        found = await self.recognition.by_token(text.strip())
        if found is None or found.token_id is None:
            await self.pace.count_one(LOGINS, remote.party)
            return False
        life_s = self.settings.session_s
        secret = await self.recognition.begin_session(found.token_id, life_s)
        keep_session(request, remote, secret, life_s)
        # What the answer shows is already theirs.
        request[PRINCIPAL], request[SESSION_SECRET] = found, secret
        return True

    async def log_out(self, request: web.Request) -> None:
        """End the session that *request* belongs to, if it does to one."""
        secret = session_secret(request, request[REMOTE])
        if secret is not None:
            await self.recognition.end_session(secret)
            drop_session(request, request[REMOTE])

    async def check_form(self, request: web.Request) -> None:
        """Check that a form came from a page of ours, and also a request that nothing but a cookie entitles.

        Raises:
            ForeignRequestError: it did not.
        """
        is_proven = "Authorization" in request.headers
        is_for_programs = request.path.startswith("/api/") and SESSION_SECRET not in request
        if request.method in SAFE_METHODS or is_proven or is_for_programs:
            return
        sent = request.headers.get(CSRF_HEADER)
        if sent is None and request.content_type in FORM_TYPES:
            sent = str((await request.post()).get(CSRF_FIELD, ""))
        check_form_token(request, request[REMOTE], sent or "")


def _bearer_text(header: str) -> str:
    scheme, _, text = header.partition(" ")
    return text.strip() if scheme.lower() == "bearer" else ""


ACCESS: Final = web.AppKey("access", Access)
"""Where an application keeps who decides about access to it."""


def principal(request: web.Request) -> Principal:
    """Return who sends *request*.

    Raises:
        UnauthorizedError: nobody knows.
    """
    if PRINCIPAL not in request:
        raise UnauthorizedError
    return request[PRINCIPAL]


def csrf_token(request: web.Request) -> str:
    """Return what a form on the page that answers *request* has to carry in its field `csrf_token`.

    Scripts send it as the header `X-CSRF-Token`.
    """
    return form_token(request, request[REMOTE])
