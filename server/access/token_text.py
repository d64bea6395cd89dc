"""Tokens as people carry them: `ggp_`, a public id, and a secret of 256 bits that nobody can guess.

The server keeps the SHA-256 of the secret. One that has so much chance in it needs no slow hash, nor salt.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import string
from dataclasses import dataclass
from typing import Final

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
    """Return 256 bits of chance as 52 letters and digits."""
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
    return hashlib.sha256(secret.encode()).hexdigest()


def is_secret_of(secret: str, kept_hash: str) -> bool:
    """Return whether *secret* is the one of which *kept_hash* is kept, in a time that does not tell how near it is."""
    return hmac.compare_digest(secret_hash(secret), kept_hash)
