"""Cookies: the session of a browser that logged in, and the secret behind the tokens that our forms carry."""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Final

from aiohttp import web

from server.access.errors import ForeignRequestError
from server.access.remote import Remote
from server.access.token_text import new_secret

_SESSION: Final = "ggp_session"
_FORMS: Final = "ggp_forms"
_SECRET: Final = re.compile(r"[a-z2-7]{52}")
CSRF_FIELD: Final = "csrf_token"
CSRF_HEADER: Final = "X-CSRF-Token"
FORM_TYPES: Final = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})
"""What browsers send forms as."""

SESSION_SECRET: Final = web.RequestKey("session_secret", str)
"""The secret of the session that a request belongs to, once it was recognised."""
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
        _set(request, f"{_name(_FORMS, remote)}={secret}; SameSite=Strict", remote)
    return _derived(secret)


def check_form_token(request: web.Request, remote: Remote, sent: str) -> None:
    """Check the token that came with a form, or with a request of one of our scripts.

    Raises:
        ForeignRequestError: it is not the one that we gave to this browser.
    """
    secret = _secret_behind(request, remote)
    if secret is None or not hmac.compare_digest(_derived(secret).encode(), sent.encode("utf-8", "replace")):
        hint = "load the page again, and then send the form"
        raise ForeignRequestError("this form is too old, or not from here", hint)


def _secret_behind(request: web.Request, remote: Remote) -> str | None:
    made = request.get(SESSION_SECRET) or request.get(_FORMS_SECRET)
    return made or _cookie(request, _name(_FORMS, remote))


def _derived(secret: str) -> str:
    return hmac.new(secret.encode(), b"form", hashlib.sha256).hexdigest()


def _cookie(request: web.Request, name: str) -> str | None:
    value = request.cookies.get(name, "")
    return value if _SECRET.fullmatch(value) else None


def _name(name: str, remote: Remote) -> str:
    # With this prefix browsers take the cookie from this host alone, and send it only where nobody reads along.
    return f"__Host-{name}" if remote.is_secret else name


def _set(request: web.Request, cookie: str, remote: Remote) -> None:
    secure = "; Secure" if remote.is_secret else ""
    request.setdefault(COOKIES, []).append(f"{cookie}; Path=/; HttpOnly{secure}")
