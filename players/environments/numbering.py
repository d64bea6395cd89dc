"""What the numbers of an environment mean: of actions, players and columns of legal actions."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.compiled import CompiledGame
from gdl.compiler.kernels.packing import n_words, words_of
from gdl.compiler.tables import Tables
from gdl.game import NOOP, RANDOM, Role
from gdl.language.terms import Constant, Term

NOOPS: Final = frozenset({NOOP})
"""The moves that only wait for another role, by name."""


@dataclass(frozen=True)
class Numbering:
    """The numbers of a game's actions. In the flat form all players share one list, in the other each has its own.

    `waiting` are the names of moves that only wait: a player with another legal move has a choice.
    """

    game: CompiledGame
    is_flat: bool
    waiting: Collection[str] = NOOPS

    @cached_property
    def players(self) -> tuple[Role, ...]:
        """The roles but chance."""
        return tuple(role for role in self.game.roles if role != RANDOM)

    @cached_property
    def role_numbers(self) -> tuple[int, ...]:
        """The number of each player among the roles."""
        return tuple(self.game.roles.index(role) for role in self.players)

    @cached_property
    def chance(self) -> int | None:
        """The number of chance among the roles, None where there is none."""
        return self.game.roles.index(RANDOM) if RANDOM in self.game.roles else None

    @cached_property
    def actions(self) -> tuple[tuple[Term, ...], ...]:
        """The moves that actions stand for: one list in the flat form, waiting last, else a list for each player."""
        lists = [[self.game.moves[i] for i in self.game.moves_of[role]] for role in self.role_numbers]
        if not self.is_flat:
            return tuple(tuple(moves) for moves in lists)
        every = dict.fromkeys(chain(*lists))
        return (tuple(sorted(every, key=self.waits)),)

    @cached_property
    def tables(self) -> Tables:
        """The tables that steps walk: those of phases, but where players perceive, which only the others tell."""
        return self.game.rules.single if self.game.has_imperfect_information else self.game.rules.phased

    @cached_property
    def known(self) -> tuple[dict[int, bool], ...]:
        """What each phase of the tables knows of fluents."""
        if self.game.has_imperfect_information:
            return ({},)
        return tuple(dict(phase.known) for phase in self.game.rules.phases) or ({},)

    @cached_property
    def group_sizes(self) -> tuple[int, ...]:
        """The number of actions of each group, and of chance's."""
        chance = [] if self.chance is None else [len(self.game.moves_of[self.chance])]
        return (*map(len, self.actions), *chance)

    @cached_property
    def group_words(self) -> tuple[int, ...]:
        """Where the words of each group of legal actions begin, and their end."""
        return tuple(accumulate((n_words(size) for size in self.group_sizes), initial=0))

    @cached_property
    def memory_words(self) -> int:
        """The words of the moves in a player's memory, 0 where everything can be seen."""
        return max(map(n_words, map(len, self.actions))) if self.game.has_imperfect_information else 0

    @cached_property
    def percepts(self) -> tuple[tuple[Term, ...], ...]:
        """The percepts of each player."""
        return tuple(self.game.rules.sees[role] for role in self.role_numbers)

    def phase_of(self, bits: NDArray[np.uint8]) -> int:
        """Return at which phase a state that a play reaches stands, given its fluents."""
        return next(
            number
            for number, known in enumerate(self.known)
            if all(bits[fluent] == value for fluent, value in known.items())
        )

    def waits(self, move: Term) -> bool:
        """Return whether *move* only waits."""
        return isinstance(move, Constant) and move.name in self.waiting

    def row(self, role: int, action: Term) -> int:
        """Return the row of the tables that makes *role* take *action*; one that nothing reads where it has no such."""
        number = self.game.move_number[role].get(action)
        return self.tables.n_rows - 1 if number is None else 1 + len(self.game.fluents) + number

    @cached_property
    def initial(self) -> NDArray[np.uint64]:
        """The words of the first state."""
        bits = np.zeros(len(self.game.fluents), np.uint8)
        bits[list(self.game.rules.initial)] = 1
        return words_of(np.packbits(bits).tobytes(), len(bits))
