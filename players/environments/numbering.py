"""What the numbers of an environment mean: of actions, players and columns of legal actions."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.compiled import CompiledGame
from gdl.compiler.gates import FALSE, TRUE
from gdl.compiler.kernels.packing import n_words, words_of
from gdl.compiler.tables import Tables
from gdl.game import NOOP, RANDOM, Role
from gdl.language.terms import Constant, Term
from players.environments.kernels.plans import Rulebook

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
        lists = [self._moves(role) for role in self.role_numbers]
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

    def _moves(self, role: int) -> list[Term]:
        return [self.game.moves[i] for i in self.game.moves_of[role]]

    def waits(self, move: Term) -> bool:
        """Return whether *move* only waits."""
        return isinstance(move, Constant) and move.name in self.waiting

    def _legal(self, phase: int) -> dict[int, int]:
        """Return the literal that makes each move legal in a phase; moves that never are, are left out."""
        t, first = self.tables, 1 + len(self.game.fluents)
        begin, end = int(t.role_start[phase, 0]), int(t.role_start[phase, -1])
        found = dict(zip((t.choice_row[begin:end] - first).tolist(), t.choice_legal[begin:end].tolist(), strict=True))
        if not self.game.has_imperfect_information and self.game.rules.phases:
            found.update(dict.fromkeys(self.game.rules.phases[phase].forced, TRUE))
        return {move: literal for move, literal in found.items() if literal != FALSE}

    def _columns(self, phase: int) -> list[list[int]]:
        """Return the literals of each column, of which one makes the action legal; those of waits are kept apart."""
        legal = self._legal(phase)
        found: list[list[int]] = []
        for group, actions in enumerate(self.actions):
            roles = self.role_numbers if self.is_flat else (self.role_numbers[group],)
            for action in actions:
                numbers = [self.game.move_number[role].get(action) for role in roles]
                waits = self.is_flat and self.waits(action)
                found.append([legal[i] for i in numbers if i in legal and not waits])
        if self.chance is not None:
            found += [[legal[i]] if i in legal else [] for i in self.game.moves_of[self.chance]]
        return found

    def _movers(self, phase: int) -> list[list[int]]:
        """Return, for each player and for chance, the literals of which one gives it a choice."""
        legal = self._legal(phase)
        roles = [*self.role_numbers, *([] if self.chance is None else [self.chance])]
        found = [
            [legal[i] for i in self.game.moves_of[role] if i in legal and not self.waits(self.game.moves[i])]
            for role in roles
        ]
        return found + [[]] * (len(self.players) + 1 - len(found))

    def _row(self, role: int, action: Term) -> int:
        number = self.game.move_number[role].get(action)
        return self.tables.n_rows - 1 if number is None else 1 + len(self.game.fluents) + number

    def _waiting_row(self, phase: int, role: int) -> int:
        """Return the row of the role's waiting move, 0 where the phase fixes that it is made."""
        t = self.tables
        chosen = t.choice_row[t.role_start[phase, 0] : t.role_start[phase, -1]].tolist()
        rows = [self._row(role, move) for move in self._moves(role) if self.waits(move)]
        return next((row for row in rows if row in chosen), 0)

    def _waits(self, phase: int) -> list[list[tuple[int, int]]]:
        """Return, for each player, columns and literals of the moves that only wait; none but in the flat form."""
        if not self.is_flat:
            return [[] for _ in self.players]
        legal = self._legal(phase)
        waits = [(i, action) for i, action in enumerate(self.actions[0]) if self.waits(action)]
        numbers = [self.game.move_number[role] for role in self.role_numbers]
        return [[(i, legal[of[action]]) for i, action in waits if of.get(action) in legal] for of in numbers]

    def rulebook(self, seed: int, auto_resets: bool) -> Rulebook:
        """Return what the kernels read of this."""
        n_phases, n_fluents = len(self.known), len(self.game.fluents)
        columns = [self._columns(phase) for phase in range(n_phases)]
        movers = [self._movers(phase) for phase in range(n_phases)]
        waits = [of_player for phase in range(n_phases) for of_player in self._waits(phase)]
        widest = max(map(len, self.actions))
        action_row = np.full((len(self.players), widest), self.tables.n_rows - 1, np.int32)
        for player, role in enumerate(self.role_numbers):
            actions = self.actions[0 if self.is_flat else player]
            action_row[player, : len(actions)] = [self._row(role, action) for action in actions]
        goals = self.game.rules.goals
        starts = list(accumulate(map(len, goals), initial=0))
        ours = [range(starts[role], starts[role + 1]) for role in self.role_numbers]
        values = [goal for of_role in goals for goal in of_role]
        sees = self.tables.sees_value[0].tolist()
        percept_starts = list(accumulate(map(len, self.game.rules.sees), initial=0))
        percepts = [sees[percept_starts[r] : percept_starts[r + 1]] for r in self.role_numbers] if sees else []
        chance_moves = [] if self.chance is None else self.game.moves_of[self.chance]
        return Rulebook(
            *_limited([literals for phase in columns for literals in phase]),
            *_limited([literals for phase in movers for literals in phase]),
            action_row=action_row,
            chance_row=_ints([1 + n_fluents + i for i in chance_moves]),
            waiting_row=_ints([self._waiting_row(p, role) for p in range(n_phases) for role in self.role_numbers]),
            wait_start=_ints(list(accumulate(map(len, waits), initial=0))),
            wait_column=_ints([column for of_player in waits for column, _ in of_player]),
            wait_literal=_ints([literal for of_player in waits for _, literal in of_player]),
            group_word=_ints(list(self.group_words) + [self.group_words[-1]] * (self.chance is None)),
            group_size=_ints(self.group_sizes),
            known_start=_ints(list(accumulate(map(len, self.known), initial=0))),
            known=_ints([2 * (1 + i) + (not value) for known in self.known for i, value in known.items()]),
            goal_start=_ints(list(accumulate(map(len, ours), initial=0))),
            goal_column=_ints([column for columns in ours for column in columns]),
            goal=_ints([-2 if (goal := values[i]) is None else goal for columns in ours for i in columns]),
            percept_start=_ints(list(accumulate(map(len, percepts or self.percepts), initial=0))),
            percept=_ints([literal for of_player in percepts for literal in of_player]),
            only_mover=_ints([self._only_mover(phase) for phase in movers]),
            n_phases=n_phases,
            n_players=len(self.players),
            n_groups=len(self.actions),
            n_columns=sum(self.group_sizes),
            memory_word=self.memory_words,
            n_goals=starts[-1],
            is_flat=int(self.is_flat),
            has_chance=int(self.chance is not None),
            auto_resets=int(auto_resets),
            seed=seed,
        )

    def _only_mover(self, movers: Sequence[Sequence[int]]) -> int:
        """Return the only player who may have a choice in a phase, -1 where it depends on the state."""
        able = [player for player, literals in enumerate(movers[: len(self.players)]) if literals]
        return able[0] if len(able) == 1 else -1

    @cached_property
    def initial(self) -> NDArray[np.uint64]:
        """The words of the first state."""
        bits = np.zeros(len(self.game.fluents), np.uint8)
        bits[list(self.game.rules.initial)] = 1
        return words_of(np.packbits(bits).tobytes(), len(bits))


def _limited(lists: Sequence[Sequence[int]]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return where each of the lists begins, and all of them in a row."""
    return _ints(list(accumulate(map(len, lists), initial=0))), _ints(list(chain(*lists)))


def _ints(values: Sequence[int]) -> NDArray[np.int32]:
    return np.array(values, np.int32)
