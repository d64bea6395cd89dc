"""The rulebook of a game: what its numbering says of actions, players, goals and percepts, as the arrays of kernels."""

from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, pairwise

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.gates import FALSE, TRUE
from players.environments.kernels.plans import Rulebook
from players.environments.numbering import Numbering


def rulebook_of(numbering: Numbering, *, auto_resets: bool) -> Rulebook:
    """Return what the kernels read of *numbering*, with the seed 0."""
    phases = [_Phase(numbering, number) for number in range(len(numbering.known))]
    waits = [pairs for phase in phases for pairs in phase.waits()]
    goals = [-2 if goal is None else goal for of_role in numbering.game.rules.goals for goal in of_role]
    goal_columns = _of_players(numbering, numbering.game.rules.goals, range(len(goals)))
    percepts = _of_players(numbering, numbering.game.rules.sees, numbering.tables.sees_value[0].tolist())
    n_moves = 1 + len(numbering.game.fluents)
    return Rulebook(
        *_limited(column for phase in phases for column in phase.columns()),
        *_limited(literals for phase in phases for literals in phase.movers),
        action_row=_action_rows(numbering),
        chance_row=_ints([n_moves + i for i in _chance_moves(numbering)]),
        waiting_row=_ints([phase.waiting_row(role) for phase in phases for role in numbering.role_numbers]),
        wait_start=_starts(waits),
        wait_column=_ints([column for pairs in waits for column, _ in pairs]),
        wait_literal=_ints([literal for pairs in waits for _, literal in pairs]),
        group_word=_ints([*numbering.group_words, *numbering.group_words[-1:] * (numbering.chance is None)]),
        group_size=_ints(numbering.group_sizes),
        known_start=_starts(numbering.known),
        known=_ints([2 * (1 + i) + (not value) for known in numbering.known for i, value in known.items()]),
        goal_start=_starts(goal_columns),
        goal_column=_ints([*chain(*goal_columns)]),
        goal=_ints([goals[column] for column in chain(*goal_columns)]),
        percept_start=_starts(numbering.percepts),
        percept=_ints([*chain(*percepts)]),
        only_mover=_ints([phase.only_mover for phase in phases]),
        n_phases=len(phases),
        n_players=len(numbering.players),
        n_groups=len(numbering.actions),
        n_columns=sum(numbering.group_sizes),
        memory_word=numbering.memory_words,
        n_goals=len(goals),
        is_flat=int(numbering.is_flat),
        has_chance=int(numbering.chance is not None),
        auto_resets=int(auto_resets),
        seed=0,
    )


@dataclass(frozen=True)
class _Phase:
    """A phase of the tables that *numbering* names: which literals make an action legal there, or give a choice."""

    numbering: Numbering
    number: int

    @cached_property
    def legal(self) -> dict[int, int]:
        """The literal that makes each move legal; moves that never are, are left out."""
        game, t = self.numbering.game, self.numbering.tables
        begin, end = int(t.role_start[self.number, 0]), int(t.role_start[self.number, -1])
        moves = t.choice_row[begin:end] - (1 + len(game.fluents))
        found = dict(zip(moves.tolist(), t.choice_legal[begin:end].tolist(), strict=True))
        if not game.has_imperfect_information and game.rules.phases:
            found.update(dict.fromkeys(game.rules.phases[self.number].forced, TRUE))
        return {move: literal for move, literal in found.items() if literal != FALSE}

    def columns(self) -> list[list[int]]:
        """Return the literals of each column, of which one makes the action legal; those of waits are kept apart."""
        numbering, found = self.numbering, list[list[int]]()
        for group, actions in enumerate(numbering.actions):
            roles = numbering.role_numbers if numbering.is_flat else (numbering.role_numbers[group],)
            for action in actions:
                numbers = [numbering.game.move_number[role].get(action) for role in roles]
                waits = numbering.is_flat and numbering.waits(action)
                found.append([self.legal[i] for i in numbers if i in self.legal and not waits])
        return found + [[self.legal[i]] if i in self.legal else [] for i in _chance_moves(numbering)]

    @cached_property
    def movers(self) -> list[list[int]]:
        """The literals of which one gives a choice, for each player and for chance."""
        game = self.numbering.game
        moves = [*(game.moves_of[role] for role in self.numbering.role_numbers), _chance_moves(self.numbering)]
        return [
            [self.legal[i] for i in of_role if i in self.legal and not self.numbering.waits(game.moves[i])]
            for of_role in moves
        ]

    @property
    def only_mover(self) -> int:
        """The only player who may have a choice, -1 where it depends on the state."""
        able = [player for player, literals in enumerate(self.movers[:-1]) if literals]
        return able[0] if len(able) == 1 else -1

    def waiting_row(self, role: int) -> int:
        """Return the row of the role's waiting move, 0 where the phase fixes that it is made."""
        game, t = self.numbering.game, self.numbering.tables
        chosen = t.choice_row[t.role_start[self.number, 0] : t.role_start[self.number, -1]].tolist()
        moves = [game.moves[i] for i in game.moves_of[role]]
        rows = [self.numbering.row(role, move) for move in moves if self.numbering.waits(move)]
        return next((row for row in rows if row in chosen), 0)

    def waits(self) -> list[list[tuple[int, int]]]:
        """Return, for each player, columns and literals of the moves that only wait; none but in the flat form."""
        numbering = self.numbering
        if not numbering.is_flat:
            return [[] for _ in numbering.players]
        waits = [(i, action) for i, action in enumerate(numbering.actions[0]) if numbering.waits(action)]
        numbers = [numbering.game.move_number[role] for role in numbering.role_numbers]
        return [[(i, self.legal[of[action]]) for i, action in waits if of.get(action) in self.legal] for of in numbers]


def _chance_moves(numbering: Numbering) -> range:
    return range(0) if numbering.chance is None else numbering.game.moves_of[numbering.chance]


def _action_rows(numbering: Numbering) -> NDArray[np.int32]:
    rows = np.full((len(numbering.players), max(map(len, numbering.actions))), numbering.tables.n_rows - 1, np.int32)
    for player, role in enumerate(numbering.role_numbers):
        actions = numbering.actions[0 if numbering.is_flat else player]
        rows[player, : len(actions)] = [numbering.row(role, action) for action in actions]
    return rows


def _of_players(
    numbering: Numbering, by_role: Sequence[Sequence[object]], values: Sequence[int]
) -> list[Sequence[int]]:
    """Return those of *values*, which stand for those of *by_role* in a row, that are the players'."""
    limits = list(pairwise(_starts(by_role).tolist()))
    return [values[slice(*limits[role])] for role in numbering.role_numbers]


def _limited(lists: Iterable[Sequence[int]]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return where each of the lists begins, and all of them in a row."""
    found = list(lists)
    return _starts(found), _ints([*chain(*found)])


def _starts(lists: Iterable[Sized]) -> NDArray[np.int32]:
    """Return where each of the lists begins in all of them in a row, and the end of that."""
    return _ints([*accumulate(map(len, lists), initial=0)])


def _ints(values: Sequence[int]) -> NDArray[np.int32]:
    return np.array(values, np.int32)
