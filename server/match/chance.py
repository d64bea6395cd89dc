"""Moves by chance that anybody who knows the seed can work out again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from gdl.game import Role
from gdl.terms import Term


def move_by_chance(moves: Sequence[Term], seed: int, step: int, role: Role) -> Term:
    """Return one of *moves*, which must be in the order of `State.legal_moves`.

    It depends on nothing but the arguments: neither on time, nor on which reply came first, nor on Python's version.
    """
    digest = hashlib.sha256(f"{seed} {step} {role}".encode()).digest()
    return moves[int.from_bytes(digest) % len(moves)]
