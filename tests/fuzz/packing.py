"""States and moves as the compiled engine packs them, and back to text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gdl.compiler.compiled import CompiledGame
from gdl.compiler.kernels.playouts import Packed
from tests.fuzz.evaluator import Fluents, Moves
from tests.fuzz.interpretation import term_of


def packed_states(game: CompiledGame, states: Sequence[Fluents]) -> Packed:
    """Return *states* as one array (N, bytes)."""
    bits = np.zeros((len(states), len(game.fluents)), np.uint8)
    for row, fluents in zip(bits, states, strict=True):
        row[[game.fluent_number[term_of(fluent)] for fluent in fluents]] = 1
    return np.packbits(bits, axis=1)


def fluents_of(game: CompiledGame, packed: bytes) -> Fluents:
    """Return what is true in the state *packed*."""
    bits = np.unpackbits(np.frombuffer(packed, np.uint8), count=len(game.fluents))
    return frozenset(str(game.fluents[i]) for i in np.flatnonzero(bits))


def moves_of(game: CompiledGame, mask: Sequence[bool]) -> tuple[Moves, ...]:
    """Return the moves of every role that *mask* marks."""
    return tuple(tuple(sorted(str(game.moves[i]) for i in ours if mask[i])) for ours in game.moves_of)


def numbers_of(game: CompiledGame, moves: Moves) -> list[int]:
    """Return the numbers of a joint move."""
    return [known[term_of(move)] for known, move in zip(game.move_number, moves, strict=True)]
