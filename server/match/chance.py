"""What is drawn by chance: the seeds and the ids of matches, and the moves that a seed decides."""

import base64
import hashlib
import secrets
import string
from collections.abc import Sequence
from typing import Final

from gdl.game import Role
from gdl.language.terms import Term

SEED_BITS: Final = 63
"""How long a seed may be: it fits into the integers of most JSON readers."""


def move_by_chance(moves: Sequence[Term], seed: int, step: int, role: Role) -> Term:
    """Return one of *moves*, which must be in the order of `State.legal_moves`.

    It depends on nothing but the arguments: neither on time, nor on which reply came first, nor on Python's version.
    """
    digest = hashlib.sha256(f"{seed} {step} {role}".encode()).digest()
    return moves[int.from_bytes(digest) % len(moves)]


def new_match_id(prefix: str = "match") -> str:
    """Return an unguessable id: *prefix*, a dot, then twelve letters and digits.

    Players name files after it and old servers take bare digits for a number, so it is never only digits.
    """
    kept = "".join(c for c in prefix if c.isascii() and (c.isalnum() or c == "."))
    return f"{kept or 'match'}.{secrets.choice(string.ascii_lowercase)}{_drawn(11)}"


def new_seed() -> int:
    """Return an unpredictable seed."""
    return secrets.randbits(SEED_BITS)


def new_random_token() -> str:
    """Return 32 unguessable letters and digits, as public hosts put into a record's address."""
    return _drawn(32)


def _drawn(n: int) -> str:
    """Return *n* unguessable letters and digits, five bits each, from one call of the system."""
    return base64.b32encode(secrets.token_bytes(n)).decode("ascii").lower()[:n]
