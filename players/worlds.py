"""The worlds of a role: states that may be the true one, what each role knows there, and the steps between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from math import prod
from random import Random
from typing import TYPE_CHECKING, Final, TypeAlias, cast
from weakref import WeakValueDictionary

from gdl.engines import BestGame
from gdl.game import RANDOM, Game, JointMove, State
from gdl.language.terms import Compound, Term
from players.deadline import SearchBudget

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gdl.compiler.compiled import CompiledGame

Percepts: TypeAlias = tuple[Term, ...]
Step: TypeAlias = tuple[Term | None, Percepts]
"""What a role did and perceived in a step; None stands for a move that it does not know."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class InformationSet:
    """The moves and percepts of a role, the last step first: its information set. None stands for the first state.

    Equal information sets are one object.
    """

    before: InformationSet | None
    move: Term | None
    percepts: Percepts

    @staticmethod
    def of(before: InformationSet | None, move: Term | None, percepts: Percepts) -> InformationSet:
        """Return the information set after one more step."""
        key = (before, move, percepts)
        found = _INFORMATION_SETS.get(key)
        if found is None:
            found = _INFORMATION_SETS[key] = InformationSet(before, move, percepts)
        return found


_INFORMATION_SETS: Final[WeakValueDictionary[tuple[InformationSet | None, Term | None, Percepts], InformationSet]] = (
    WeakValueDictionary()
)


@dataclass(frozen=True, slots=True)
class World:
    """A state that may be the true one, and the information set of each role if it is.

    Worlds of equal states hash alike where one engine made them: a packed state hashes faster than its facts.
    """

    state: State
    infosets: tuple[InformationSet | None, ...]

    def __hash__(self) -> int:
        return hash((getattr(self.state, "packed", self.state), self.infosets))


def infosets_after(game: Game, world: World, moves: JointMove) -> tuple[InformationSet | None, ...]:
    """Return the information set of each role after *moves* in *world*; None for chance."""
    percepts = tuple(() if role == RANDOM else world.state.percepts(role, moves) for role in game.roles)
    return _infosets_after(game, world, moves, percepts)


def _infosets_after(
    game: Game, world: World, moves: JointMove, percepts: Sequence[Percepts]
) -> tuple[InformationSet | None, ...]:
    return tuple(
        None if role == RANDOM else InformationSet.of(infoset, move, perceived)
        for role, infoset, move, perceived in zip(game.roles, world.infosets, moves, percepts, strict=True)
    )


ChoiceModel: TypeAlias = Callable[[World, int, Sequence[Term]], Sequence[float] | None]
"""The probability of each of the moves of a role, given by its number, in a world; None where all are equal."""
Options: TypeAlias = list[dict[Term, float]]
"""For each role the moves that it may make, and their probabilities."""
Outcome: TypeAlias = tuple[World, JointMove]


class WorldChoices:
    """What the roles may do in a world: the role number *me* what it did, chance anything, the others as modelled.

    A move of its own that *me* does not know may be any, each with equal probability.
    """

    def __init__(self, game: Game, me: int) -> None:
        self.game, self.me = game, me
        self.model: ChoiceModel | None = None

    def options(self, world: World, own_move: Term | None) -> Options:
        """Return the moves of each role in *world* with their probabilities, none where *own_move* is not legal.

        Moves of probability 0 are none of them.
        """
        found: Options = []
        for i, role in enumerate(self.game.roles):
            moves = world.state.legal_moves(role)
            if i == self.me and own_move is not None:
                found.append({own_move: 1.0} if own_move in moves else {})
                continue
            shares = None if self.model is None or role == RANDOM or i == self.me else self.model(world, i, moves)
            uniform = dict.fromkeys(moves, 1 / max(1, len(moves)))
            modelled = uniform if shares is None else dict(zip(moves, shares, strict=True))
            found.append({move: share for move, share in modelled.items() if share > 0})
        return found


def joint_moves(options: Options) -> Iterator[tuple[JointMove, float]]:
    """Yield every joint move of *options* with its probability."""
    for pairs in product(*(moves.items() for moves in options)):
        yield tuple(move for move, _ in pairs), prod(share for _, share in pairs)


def n_joint_moves(options: Options) -> int:
    """Return how many joint moves *options* have."""
    return prod(map(len, options))


class MoveDraws:
    """Draws of joint moves of *options*, each of which has a move.

    Half of the draws go to moves that the percepts mention, which are in *said*: what is hard to hit is found, too.
    """

    def __init__(self, options: Options, said: set[Term]) -> None:
        self._said = said
        self._roles = [
            (of_role, tuple(of_role), tuple(accumulate(of_role.values())), [move for move in of_role if move in said])
            for of_role in options
        ]

    def draw(self, random: Random) -> tuple[JointMove, float]:
        """Return a joint move, and by how much more probable it is in the options than it was to be drawn here."""
        drawn, factor = [], 1.0
        for of_role, moves, cumulative, mentioned in self._roles:
            if mentioned and random.random() < 1 / 2:
                move = random.choice(mentioned)
            else:
                move = random.choices(moves, cum_weights=cumulative)[0]
            if mentioned:
                by_mention = 1 / len(mentioned) if move in self._said else 0.0
                factor *= 2 * of_role[move] / (of_role[move] + by_mention)
            drawn.append(move)
        return tuple(drawn), factor


def parts_of(terms: Iterable[Term]) -> set[Term]:
    """Return all terms that occur in *terms*, these included."""
    found: set[Term] = set()
    todo = list(terms)
    while todo:
        top = todo.pop()
        if top not in found:
            found.add(top)
            todo += top.arguments if isinstance(top, Compound) else ()
    return found


_SINGLE_CHUNK: Final = 16
"""Between two looks at the clock, on the interpreter."""
_BATCH_CHUNK: Final = 2048


class WorldSteps:
    """The steps from worlds to those that follow them: singly, or hundreds at once on the compiled engine."""

    def __init__(self, game: Game, me: int) -> None:
        self.game, self.me = game, me
        self._batch: _WorldBatch | None = None

    def followers(
        self, outcomes: Sequence[Outcome], percepts: Percepts, budget: SearchBudget
    ) -> tuple[list[World | None], bool]:
        """Return the worlds that follow in *outcomes*, None where the role would have perceived something else.

        A terminal state is none of them: the game manager goes on asking, so the play has not ended. Some outcomes are
        looked at even without time; then the list is shorter, and the second value says that it is not whole.
        """
        batch = self._fast()
        found: list[World | None] = []
        size = _SINGLE_CHUNK if batch is None else _BATCH_CHUNK
        for begin in range(0, len(outcomes), size):
            if found and budget.is_out_of_time:
                return found, False
            chunk = outcomes[begin : begin + size]
            following = None if batch is None else batch.followers(chunk, percepts)
            found += following or [self._follower(world, moves, percepts) for world, moves in chunk]
        return found, True

    def _follower(self, world: World, moves: JointMove, percepts: Percepts) -> World | None:
        if world.state.percepts(self.game.roles[self.me], moves) != percepts:
            return None
        state = world.state.next_state(moves)
        return None if state.is_terminal else World(state, infosets_after(self.game, world, moves))

    def _fast(self) -> _WorldBatch | None:
        if self._batch is None and self.game.engine == "compiled":
            compiled = self.game.compiled if isinstance(self.game, BestGame) else self.game
            self._batch = _WorldBatch(cast("CompiledGame", compiled), self.me)
        return self._batch


class _WorldBatch:
    """Steps of many worlds at once, on packed states."""

    def __init__(self, game: CompiledGame, me: int) -> None:
        self._game, self._me = game, me
        sees = game.rules.sees
        self._ranges = [
            range(first, first + len(percepts)) for first, percepts in zip(_sums(map(len, sees)), sees, strict=False)
        ]
        self._percepts: dict[tuple[int, bytes], Percepts] = {}

    def followers(self, outcomes: Sequence[Outcome], percepts: Percepts) -> list[World | None] | None:
        """Return what `WorldSteps.followers` does; None where a state has no packed form."""
        import numpy as np  # noqa: PLC0415 -- the compiled engine has loaded it; who plays without need not

        packed = [self._packed(world.state) for world, _ in outcomes]
        states = [state for state in packed if state is not None]
        if len(states) < len(packed):
            return None
        numbers = np.array(
            [[known[move] for known, move in zip(self._game.move_number, moves, strict=True)] for _, moves in outcomes]
        )
        rows = np.frombuffer(b"".join(states), np.uint8).reshape(len(states), -1)
        following, seen = self._game.batch.next_and_sees(rows, numbers)
        agrees = self._agree(seen, percepts)
        found: list[World | None] = [None] * len(outcomes)
        chosen = np.flatnonzero(agrees)
        goes_on = ~self._game.batch.terminal(following[chosen])
        for i in chosen[goes_on].tolist():
            world, moves = outcomes[i]
            told = [self._told(role, seen[i]) for role in range(len(moves))]
            state = self._game.unpack(following[i].tobytes())
            found[i] = World(state, _infosets_after(self._game, world, moves, told))
        return found

    def _agree(self, seen: NDArray[np.bool_], percepts: Percepts) -> NDArray[np.bool_]:
        """Return in which rows of *seen* the role perceives exactly *percepts*."""
        ours, said = self._ranges[self._me], set(percepts)
        expected = [percept in said for percept in self._game.rules.sees[self._me]]
        agrees: NDArray[np.bool_] = (seen[:, ours.start : ours.stop] == expected).all(axis=1)
        return agrees & (sum(expected) == len(said))

    def _packed(self, state: State) -> bytes | None:
        """Return the packed form of *state*, which may be one of another engine."""
        here = state if hasattr(state, "packed") else self._game.state(state.facts)
        found: bytes | None = getattr(here, "packed", None)
        return found

    def _told(self, role: int, seen: NDArray[np.bool_]) -> Percepts:
        """Return what a role perceives where the percepts of all roles are the mask *seen*."""
        ours = self._ranges[role]
        key = role, seen[ours.start : ours.stop].tobytes()
        known = self._percepts.get(key)
        if known is None:
            held = zip(self._game.rules.sees[role], key[1], strict=True)
            known = self._percepts[key] = tuple(sorted((percept for percept, holds in held if holds), key=str))
        return known


def _sums(numbers: Iterable[int]) -> Iterator[int]:
    """Yield the sum of all numbers before each."""
    total = 0
    for number in numbers:
        yield total
        total += number
