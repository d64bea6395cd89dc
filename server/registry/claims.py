"""Claims to seats: secrets for people who play in a match that somebody else ordered."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """The secret that entitles somebody to a seat, shown once, and its hash, which is kept."""

    secret: str
    hash: str


def new_claim() -> Claim:
    """Return a claim that nobody can guess."""
    secret = secrets.token_urlsafe(24)
    return Claim(secret, _hash(secret))


def is_claim(secret: str, kept_hash: str) -> bool:
    """Return whether *secret* is the one of which *kept_hash* was kept."""
    return hmac.compare_digest(_hash(secret), kept_hash)


def _hash(secret: str) -> str:
    # 192 random bits need no slow hash.
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
