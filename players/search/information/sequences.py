"""The sequence form of a game: what each role can know and do, and the goals that it comes to, without any state.

Source: Bernhard von Stengel, Efficient computation of behavior strategies, 1996.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.game import Game
from gdl.language.terms import Term
from players.belief import InformationSet, Percepts
from players.deadline import SearchBudget
from players.search.positions import Positions, SearchPosition

Floats: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.int64]

MAX_HISTORIES: Final = 100_000
"""A game of more histories is too large to be solved."""


@dataclass(frozen=True, slots=True)
class Level:
    """The information sets of a role before which it has decided equally often.

    *Shapes*: `sequences` (S,) of their moves, one information set after the other; `starts` (I,) where in these each
    begins; `sizes` (I,) its number of moves; `before` (I,) the sequence that leads to it.
    """

    sequences: Numbers
    starts: Numbers
    sizes: Numbers
    before: Numbers


class RoleSequences:
    """The sequences of a role: number 0 is to have done nothing yet, each other one a move in an information set.

    `moves` has the moves of each information set in which there is a choice, `first` the sequence of its first move,
    `before` the sequence that leads to it. All have the order in which they were met.
    """

    def __init__(self) -> None:
        self.moves: dict[InformationSet | None, tuple[Term, ...]] = {}
        self.first: dict[InformationSet | None, int] = {}
        self.before: dict[InformationSet | None, int] = {}
        self.n_sequences = 1

    def options(self, infoset: InformationSet | None, moves: tuple[Term, ...], before: int) -> range | None:
        """Return the sequences of *moves* in *infoset*, to which the sequence *before* leads; None for other moves."""
        known = self.moves.get(infoset)
        if known is None:
            self.moves[infoset], self.first[infoset], self.before[infoset] = moves, self.n_sequences, before
            self.n_sequences += len(moves)
        elif known != moves:
            return None
        first = self.first[infoset]
        return range(first, first + len(moves))

    def levels(self) -> tuple[Level, ...]:
        """Return the information sets by how often the role has decided before, the first decisions first."""
        depth_of_sequence = np.zeros(self.n_sequences, np.int64)
        by_depth: dict[int, list[InformationSet | None]] = {}
        for infoset, moves in self.moves.items():
            first, depth = self.first[infoset], int(depth_of_sequence[self.before[infoset]])
            depth_of_sequence[first : first + len(moves)] = depth + 1
            by_depth.setdefault(depth, []).append(infoset)
        return tuple(self._level(by_depth[depth]) for depth in sorted(by_depth))

    def _level(self, infosets: Sequence[InformationSet | None]) -> Level:
        sizes = np.array([len(self.moves[infoset]) for infoset in infosets])
        ranges = [
            np.arange(self.first[infoset], self.first[infoset] + len(self.moves[infoset])) for infoset in infosets
        ]
        before = np.array([self.before[infoset] for infoset in infosets])
        return Level(np.concatenate(ranges), np.cumsum(sizes) - sizes, sizes, before)


@dataclass(frozen=True, slots=True)
class SequenceForm:
    """A game as its roles can know it, chance being none of them.

    *Shapes*: `ends` (E, roles) holds the last sequence of each role at the ends of the game, 0 for chance; `shares`
    (E, roles) their goals there, from 0 to 1, multiplied by the probability that chance lets it come to that.
    """

    game: Game
    roles: tuple[RoleSequences, ...]
    ends: Numbers
    shares: Floats
    n_histories: int

    @property
    def n_infosets(self) -> int:
        """The number of information sets of all roles in which there is a choice."""
        return sum(len(role.moves) for role in self.roles)


Infosets: TypeAlias = tuple[InformationSet | None, ...]
Frontier: TypeAlias = dict[tuple[SearchPosition, Infosets], tuple[tuple[int, ...], float]]
"""Histories of equal length: for each, the sequences of all roles, and the probability that chance leaves it."""


def sequence_form(game: Game, budget: SearchBudget, max_histories: int = MAX_HISTORIES) -> SequenceForm | None:
    """Return *game* in sequence form; None where it has too many histories, or *budget* ends before.

    Histories that lead to equal states and that each role confuses with the same others count as one. None, too, where
    the legal moves of a role differ between states that it cannot tell apart: such rules have no sequence form.
    """
    walk = _Walk(game, max_histories)
    while walk.frontier:
        if not walk.advance(budget):
            return None
    ends = np.array(list(walk.ends), np.int64).reshape(-1, len(game.roles))
    shares = np.array(list(walk.ends.values())).reshape(ends.shape)
    return SequenceForm(game, walk.roles, ends, shares, walk.n_histories)


def is_certainly_large(
    game: Game, budget: SearchBudget, max_histories: int = MAX_HISTORIES, n_probes: int = 20
) -> bool:
    """Return whether random plays show that *game* has far more than *max_histories*, or *budget* ends before.

    The mean of what one random play lets expect is the number of histories; where it is a hundred times the limit,
    the game is small with a probability of less than 1 % (Markov's inequality).
    Source: Donald Knuth, Estimating the efficiency of backtrack programs, 1975.
    """
    random, positions, total = Random(0), Positions(game), 0.0
    for _ in range(n_probes):
        position, factor = positions.at(game.initial_state), 1.0
        while not position.is_end:
            factor *= position.n_choices
            total += factor
            if total > 100 * n_probes * max_histories or budget.is_out_of_time:
                return True
            position = position.after(tuple(random.randrange(len(moves)) for moves in position.moves))
    return False


class _Walk:
    """The histories of a game, length by length."""

    def __init__(self, game: Game, max_histories: int) -> None:
        self.positions = Positions(game, max_histories)
        self.chance = self.positions.chance
        self.max_histories, self.n_histories = max_histories, 1
        self.roles = tuple(RoleSequences() for _ in game.roles)
        first = self.positions.at(game.initial_state), (None,) * len(game.roles)
        self.frontier: Frontier = {first: ((0,) * len(game.roles), 1.0)}
        self.ends: dict[tuple[int, ...], Floats] = {}
        self._forced: tuple[dict[InformationSet | None, Term], ...] = tuple({} for _ in game.roles)
        if first[0].is_end:
            self._end((0,) * len(game.roles), first[0], 1.0)
            self.frontier = {}

    def advance(self, budget: SearchBudget) -> bool:
        """Go on by one joint move in every history; return whether that was possible."""
        following: Frontier = {}
        for (position, infosets), (sequences, probability) in self.frontier.items():
            self.n_histories += position.n_choices
            options = self._options(position, infosets, sequences)
            if options is None or self.n_histories > self.max_histories or budget.is_out_of_time:
                return False
            share = probability if self.chance is None else probability / len(position.moves[self.chance])
            for choice in position.choices():
                after = position.after(choice)
                chosen = tuple(of_role[move] for of_role, move in zip(options, choice, strict=True))
                if after.is_end:
                    self._end(chosen, after, share)
                    continue
                told = zip(infosets, position.joint_move(choice), position.percepts(choice), strict=True)
                history = after, tuple(self._infoset_after(i, *step) for i, step in enumerate(told))
                _, before = following.get(history, (chosen, 0.0))
                following[history] = chosen, before + share
        self.frontier = following
        return True

    def _options(
        self, position: SearchPosition, infosets: Infosets, sequences: tuple[int, ...]
    ) -> list[Sequence[int]] | None:
        """Return the sequence of each role after each of its moves, None where the rules have no sequence form."""
        found: list[Sequence[int]] = []
        for i, moves in enumerate(position.moves):
            if i == self.chance:
                options: Sequence[int] | None = [sequences[i]] * len(moves)
            else:
                options = self._options_of(i, moves, infosets[i], sequences[i])
            if options is None:
                return None
            found.append(options)
        return found

    def _options_of(
        self, i: int, moves: tuple[Term, ...], infoset: InformationSet | None, sequence: int
    ) -> Sequence[int] | None:
        """Return the sequence of role *i* after each of *moves*, None where it had other moves in that *infoset*."""
        if len(moves) > 1 or infoset in self.roles[i].moves:
            return None if infoset in self._forced[i] else self.roles[i].options(infoset, moves, sequence)
        return [sequence] if self._forced[i].setdefault(infoset, moves[0]) == moves[0] else None

    def _end(self, sequences: tuple[int, ...], position: SearchPosition, probability: float) -> None:
        shares = probability * np.array(position.goals)
        self.ends[sequences] = self.ends[sequences] + shares if sequences in self.ends else shares

    def _infoset_after(
        self, i: int, infoset: InformationSet | None, move: Term, percepts: Percepts
    ) -> InformationSet | None:
        return None if i == self.chance else InformationSet.of(infoset, move, percepts)
