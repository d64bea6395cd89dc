"""Authentication: who sends a request, by the token in its header or the session that its cookie names."""

import asyncio
import base64
import hashlib
import hmac
import logging
import re
import secrets
import string
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from aiohttp import web
from cachetools import TTLCache

from server.access.remote import Remote
from server.clock import now_ms
from server.principal import Principal, Role, role_named
from server.refusals import ForeignRequestError
from server.storage.accounts import SessionRow, TokenStore
from server.storage.errors import StorageError
from server.storage.rows import TokenRow

_ID_CHARACTERS: Final = string.ascii_lowercase + string.digits
_N_ID: Final = 10
_N_SECRET: Final = 32
_TOKEN: Final = re.compile(r"ggp_(?P<id>[a-z0-9]{10})_(?P<secret>[a-z2-7]{52})")


@dataclass(frozen=True, slots=True)
class TokenText:
    """A token: its public *id*, by which lists and logs may call it, and its *secret*."""

    id: str
    secret: str

    def __str__(self) -> str:
        return f"ggp_{self.id}_{self.secret}"

    def __repr__(self) -> str:
        return f"TokenText({self.id!r})"


def new_token(token_id: str | None = None) -> TokenText:
    """Return a new token; with a *token_id*, one with a new secret for that id."""
    found = token_id or "".join(secrets.choice(_ID_CHARACTERS) for _ in range(_N_ID))
    return TokenText(found, new_secret())


def new_secret() -> str:
    """Return 256 random bits as 52 letters and digits."""
    return base64.b32encode(secrets.token_bytes(_N_SECRET)).decode().rstrip("=").lower()


def read_token(text: str) -> TokenText | None:
    """Return the token that *text* is, None where it is none.

    >>> read_token("ggp_abcdefghij_" + "a" * 52).id
    'abcdefghij'
    >>> read_token("hunter2")
    """
    found = _TOKEN.fullmatch(text)
    return TokenText(found["id"], found["secret"]) if found else None


def secret_hash(secret: str) -> str:
    """Return what is kept of *secret*: 64 hexadecimal digits."""
    # So many random bits need no slow hash. What others send may be no Unicode.
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def is_secret_of(secret: str, kept_hash: str) -> bool:
    """Return whether *secret* is the one of which *kept_hash* is kept, in a time that does not tell how near it is."""
    return hmac.compare_digest(secret_hash(secret).encode(), kept_hash.encode("utf-8", "replace"))


_SESSION: Final = "ggp_session"
_FORMS: Final = "ggp_forms"
_SECRET: Final = re.compile(r"[a-z2-7]{52}")
_MASKED: Final = re.compile(r"[0-9a-f]{128}")
CSRF_FIELD: Final = "csrf_token"
CSRF_HEADER: Final = "X-CSRF-Token"
FORM_TYPES: Final = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})
"""What browsers send forms as."""

SESSION_SECRET: Final = web.RequestKey("session_secret", str)
"""The secret of the session that a request belongs to, once it was authenticated."""
_FORMS_SECRET: Final = web.RequestKey("forms_secret", str)
COOKIES: Final = web.RequestKey("cookies", list[str])
"""The values of Set-Cookie that go with the answer to a request."""


def session_secret(request: web.Request, remote: Remote) -> str | None:
    """Return what the cookie of a session says, None where there is none."""
    return _cookie(request, _name(_SESSION, remote))


def keep_session(request: web.Request, remote: Remote, secret: str, life_s: int) -> None:
    """Send the cookie of a session along with the answer to *request*."""
    _set(request, f"{_name(_SESSION, remote)}={secret}; Max-Age={life_s}; SameSite=Lax", remote)


def drop_session(request: web.Request, remote: Remote) -> None:
    """Take the cookie of a session away with the answer to *request*."""
    _set(request, f"{_name(_SESSION, remote)}=; Max-Age=0; SameSite=Lax", remote)


def form_token(request: web.Request, remote: Remote) -> str:
    """Return the token that forms of the answer carry; a browser that has no cookie for it gets one."""
    secret = _secret_behind(request, remote)
    if secret is None:
        secret = request[_FORMS_SECRET] = new_secret()
        # Links from other sites bring it along, so that the page they open keeps the forms of open pages valid; forms
        # of other sites do not.
        _set(request, f"{_name(_FORMS, remote)}={secret}; SameSite=Lax", remote)
    return _masked(_derived(secret))


def check_form_token(request: web.Request, remote: Remote, sent: str) -> None:
    """Check the token that came with a form, or with a request of one of our scripts.

    Raises:
        ForeignRequestError: it is not the one that we gave to this browser.
    """
    secret = _secret_behind(request, remote)
    if secret is None or not hmac.compare_digest(_derived(secret), _unmasked(sent)):
        hint = "load the page again, and then send the form"
        raise ForeignRequestError("this form is too old, or not from here", hint)


def _secret_behind(request: web.Request, remote: Remote) -> str | None:
    made = request.get(SESSION_SECRET) or request.get(_FORMS_SECRET)
    return made or _cookie(request, _name(_FORMS, remote))


def _derived(secret: str) -> bytes:
    return hmac.new(secret.encode(), b"form", hashlib.sha256).digest()


def _masked(token: bytes) -> str:
    """Return *token* as it stands in one answer alone: the length of a compressed page tells nothing of it (BREACH)."""
    pad = secrets.token_bytes(len(token))
    return (pad + _xor(pad, token)).hex()


def _unmasked(sent: str) -> bytes:
    """Return the token that was *sent*; nothing where it is none."""
    if not _MASKED.fullmatch(sent):
        return b""
    both = bytes.fromhex(sent)
    middle = len(both) // 2
    return _xor(both[:middle], both[middle:])


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def _cookie(request: web.Request, name: str) -> str | None:
    value = request.cookies.get(name, "")
    return value if _SECRET.fullmatch(value) else None


def _name(name: str, remote: Remote) -> str:
    # With this prefix browsers take the cookie from this host alone, and send it only over HTTPS.
    return f"__Host-{name}" if remote.is_secret else name


def _set(request: web.Request, cookie: str, remote: Remote) -> None:
    secure = "; Secure" if remote.is_secret else ""
    request.setdefault(COOKIES, []).append(f"{cookie}; Path=/; HttpOnly{secure}")


REMEMBERED_S: Final = 2.0
"""How long an answer of the database counts: after this a token that was revoked elsewhere opens nothing more."""
TOUCHED_MS: Final = 60_000
"""How often it is written down that a token is used."""
WRITTEN_S: Final = 5.0
"""How long after its use at most that is written down."""
_LOG: Final = logging.getLogger(__name__)
_ROLES: Final = frozenset(role.word for role in Role)
_N_REMEMBERED: Final = 10_000
_UNUSED_HASH: Final = secret_hash(new_secret())

Value = TypeVar("Value")


class Authentication:
    """Finds out who has a token or a session.

    *clock_ms* tells the time of day, by which they expire; *monotonic_s* measures how long answers are remembered, also
    when the time of day is set back.
    """

    def __init__(
        self,
        tokens: TokenStore,
        clock_ms: Callable[[], int] = now_ms,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tokens, self._clock_ms = tokens, clock_ms
        self._rows = _Recent[TokenRow | None](monotonic_s)
        self._sessions = _Recent[SessionRow | None](monotonic_s)
        self._any = _Recent[bool](monotonic_s)
        self._touched_ms: dict[str, int] = {}
        self._unwritten_ms: dict[str, int] = {}

    async def by_token(self, text: str) -> Principal | None:
        """Return who has the token *text*; None where it is none, or opens nothing any more."""
        token = read_token(text)
        if token is None:
            return None
        row = await self._row(token.id)
        # The comparison is made in any case, so that its time does not tell which ids there are.
        is_right = is_secret_of(token.secret, row.hash if row else _UNUSED_HASH)
        return self._principal(row) if row and is_right else None

    async def by_session(self, secret: str) -> Principal | None:
        """Return who logged in and was given *secret* as a cookie."""
        named = secret_hash(secret)
        session = await self._sessions.get(named, lambda: self._tokens.session(named))
        if session is None or session.expires_ms <= self._clock_ms():
            return None
        row = await self._row(session.token_id)
        return self._principal(row) if row else None

    async def begin_session(self, token_id: str, life_s: int) -> str:
        """Begin a session for who has a token, and return the secret for its cookie."""
        secret, at_ms = new_secret(), self._clock_ms()
        await self._tokens.open_session(SessionRow(secret_hash(secret), token_id, at_ms, at_ms + 1000 * life_s))
        return secret

    async def end_session(self, secret: str) -> None:
        """End a session, if it is one."""
        await self._tokens.close_session(secret_hash(secret))
        self.forget()

    async def has_any_token(self) -> bool:
        """Return whether a token was ever issued; once it was, it stays so."""
        return await self._any.get("", self._tokens.has_any)

    def forget(self) -> None:
        """Look everything up anew: something was changed."""
        for memory in (self._rows, self._sessions, self._any):
            memory.clear()

    async def _row(self, token_id: str) -> TokenRow | None:
        return await self._rows.get(token_id, lambda: self._tokens.get(token_id))

    def _principal(self, row: TokenRow) -> Principal | None:
        at_ms = self._clock_ms()
        if not is_valid(row, at_ms) or row.role not in _ROLES:
            return None
        if at_ms - max(row.used_ms or 0, self._touched_ms.get(row.id, 0)) >= TOUCHED_MS:
            self._touched_ms[row.id] = self._unwritten_ms[row.id] = at_ms
        return Principal(row.name, role_named(row.role), row.id)

    async def write_uses(self) -> None:
        """Write down when tokens were last used; no request waits for that, and where it fails it is for later."""
        uses, self._unwritten_ms = self._unwritten_ms, {}
        try:
            await self._tokens.touch(uses)
        except StorageError as error:
            self._unwritten_ms = uses | self._unwritten_ms
            _LOG.warning("when tokens were used is not written down: %s", error)

    async def run(self, _app: web.Application) -> AsyncIterator[None]:
        """Write down uses every now and then, for as long as the application runs."""
        writing = asyncio.create_task(self._write_on(), name="uses of tokens")
        yield
        writing.cancel()
        with suppress(asyncio.CancelledError):
            await writing
        await self.write_uses()

    async def _write_on(self) -> None:
        while True:
            await asyncio.sleep(WRITTEN_S)
            await self.write_uses()


def is_valid(row: TokenRow, at_ms: int) -> bool:
    """Return whether a token opens anything at *at_ms*."""
    return row.revoked_ms is None and (row.expires_ms is None or row.expires_ms > at_ms)


class _Recent(Generic[Value]):
    """Answers that were had within `REMEMBERED_S`."""

    def __init__(self, monotonic_s: Callable[[], float]) -> None:
        self._found: TTLCache[str, Value] = TTLCache(_N_REMEMBERED, REMEMBERED_S, monotonic_s)
        self._n_clears = 0

    async def get(self, key: str, ask: Callable[[], Awaitable[Value]]) -> Value:
        """Return the answer for *key*, which *ask* gives where none is remembered."""
        with suppress(KeyError):
            return self._found[key]
        n_clears = self._n_clears
        found = await ask()
        if n_clears == self._n_clears:  # else it may be what was true before the change
            self._found[key] = found
        return found

    def clear(self) -> None:
        """Remember nothing, nor what is being asked."""
        self._found.clear()
        self._n_clears += 1
