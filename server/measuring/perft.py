"""How many ways a game can go for so many steps: the counts by which rules, ours and others', are compared.

Each joint move is a node, equal states are counted together; what follows the end of a play is nothing. On the compiled
engine the states of a depth are asked about in batches, by several threads.

Source: the chess programming community's "perft" (performance test, move path enumeration).
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Final, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.compiled import CompiledGame
from gdl.diagnostics import Span
from gdl.errors import CallerError, RuleFileError, derived
from gdl.game import Game, JointMove, State
from server.measuring.frontier import EXACT, Frontier, Gathering, Weights, together

CHUNK: Final = 1 << 14
"""How many states a thread asks about at once."""
MOST_AT_ONCE: Final = 1 << 20
"""How many joint moves a thread makes at once."""
MOST_MADE: Final = 1 << 24
"""How many joint moves of one state are made one by one; more would take many minutes."""
_Task = TypeVar("_Task")
_Found = TypeVar("_Found")


class StuckRoleError(RuleFileError):
    """A state that can be reached has a role without a legal move, although the play has not ended."""

    message: str = derived("{role} has no legal move in a state that is not terminal")
    span: Span | None = derived(None)
    hint: str | None = derived("`ggp validate --simulate` shows a play that leads there")
    role: str


class TooManyJointMovesError(CallerError):
    """A state has so many joint moves that what follows them cannot be counted."""

    template: ClassVar[str] = "what follows {n_joint} joint moves at once cannot be counted: ask for a smaller depth"
    n_joint: int


@dataclass(frozen=True, slots=True)
class DepthCount:
    """How many nodes there are at a depth. *Units*: seconds by the clock, of this depth alone."""

    depth: int
    nodes: int
    seconds: float


class Counting(Protocol):
    """Counts the nodes at a depth below a state, which may be what follows a joint move."""

    def nodes(self, state: State, depth: int) -> int:
        """Return how many nodes there are. *Units*: steps, or turns, for *depth*.

        Raises:
            StuckRoleError: a role has no legal move.
            TooManyJointMovesError: a state has too many joint moves to look at what follows each.
        """


def counts(counting: Counting, state: State, depth: int) -> Iterator[DepthCount]:
    """Yield the count of each depth from 1 to *depth*, each as soon as it is known. Raises: as `Counting.nodes`."""
    for each in range(1, depth + 1):
        began_s = time.perf_counter()
        found = counting.nodes(state, each)
        yield DepthCount(each, found, time.perf_counter() - began_s)


def divided(
    game: Game, counting: Counting, state: State, depth: int, on_move: Callable[[], None] = lambda: None
) -> Iterator[tuple[JointMove, int]]:
    """Yield each joint move in *state*, and how many nodes at *depth* begin with it. Raises: as `Counting.nodes`."""
    for joint in product(*_legal(game, state)):
        following = state.next_state(joint)
        yield joint, 1 if depth == 1 else counting.nodes(following, depth - 1)
        on_move()


def _legal(game: Game, state: State) -> list[Sequence[Any]]:
    """Return the legal moves of all roles, none at an end; raises StuckRoleError."""
    if state.is_terminal:
        return [()]
    legal: list[Sequence[Any]] = [state.legal_moves(role) for role in game.roles]
    for role, moves in zip(game.roles, legal, strict=True):
        if not moves:
            raise StuckRoleError(str(role))
    return legal


def _waits(moves: Sequence[Any]) -> bool:
    """Return whether a role has but one legal move, without arguments: it waits for others."""
    return len(moves) == 1 and moves[0].depth == 0


@dataclass(frozen=True, slots=True)
class StateCounting:
    """Counts state by state, on any engine; with *by_turns* steps of one turn count together."""

    game: Game
    by_turns: bool = False

    def nodes(self, state: State, depth: int) -> int:
        """Return how many nodes there are at *depth* below *state*. Raises: as `Counting.nodes`."""
        level = Counter({state.facts: 1})
        states = {state.facts: state}
        for _ in range(depth):
            level, states = self._turn(level, states) if self.by_turns else self._step(level, states)
        return sum(level.values())

    def _step(self, level: Counter[Any], states: dict[Any, State]) -> tuple[Counter[Any], dict[Any, State]]:
        after, found = Counter[Any](), dict[Any, State]()
        for facts, weight in level.items():
            for joint in product(*_legal(self.game, states[facts])):
                following = states[facts].next_state(joint)
                after[following.facts] += weight
                found[following.facts] = following
        return after, found

    def _turn(self, level: Counter[Any], states: dict[Any, State]) -> tuple[Counter[Any], dict[Any, State]]:
        """Return what follows whole turns: the steps of one role alone, until others are to move or the play ends."""
        ended, found = Counter[Any](), dict[Any, State]()
        for movers in {self._movers(state) for state in states.values()}:
            begun = {facts: state for facts, state in states.items() if self._movers(state) == movers}
            going = Counter({facts: level[facts] for facts in begun})
            while going:
                after, reached = self._step(going, begun)
                begun = {facts: state for facts, state in reached.items() if self._goes_on(movers, state)}
                going = Counter({facts: after[facts] for facts in begun})
                found |= {facts: state for facts, state in reached.items() if facts not in begun}
                ended.update({facts: weight for facts, weight in after.items() if facts not in begun})
        return ended, found

    def _goes_on(self, movers: tuple[bool, ...], state: State) -> bool:
        """Return whether the turn of the *movers*, one of several roles, is not over in *state*."""
        return sum(movers) == 1 < len(movers) and not state.is_terminal and self._movers(state) == movers

    def _movers(self, state: State) -> tuple[bool, ...]:
        """Return which roles do not wait; at an end none does."""
        return tuple(not _waits(moves) for moves in _legal(self.game, state))


@dataclass(frozen=True, slots=True)
class _Choices:
    """What may be moved in some states. *Shapes*: N states, R roles.

    `is_over` (N,); `n_legal` (N, R), 0 at an end; `moves`, role by role, the legal moves of all states in turn;
    `movers` (N, R), which roles do not wait.
    """

    is_over: NDArray[np.bool_]
    n_legal: NDArray[np.int64]
    moves: tuple[NDArray[np.int64], ...]
    movers: NDArray[np.bool_]

    @property
    def n_joint(self) -> Weights:
        """How many joint moves each state has."""
        with np.errstate(over="ignore"):
            about = np.prod(self.n_legal, axis=1, dtype=np.float64)
        is_small = not len(about) or about.max() < EXACT
        n_legal: Weights = self.n_legal if is_small else self.n_legal.astype(np.object_)
        found: Weights = np.prod(n_legal, axis=1)
        return found


@dataclass(frozen=True, slots=True)
class _JointMoves:
    """Some joint moves of a frontier, by number: those of its first state come first."""

    frontier: Frontier
    choices: _Choices
    numbers: range


@dataclass(frozen=True, slots=True)
class BatchCounting:
    """Counts on the compiled engine, by several threads; with *by_turns* steps of one turn count together."""

    game: CompiledGame
    by_turns: bool = False
    n_threads: int = 1

    def nodes(self, state: State, depth: int) -> int:
        """Return how many nodes there are at *depth* below *state*. Raises: as `Counting.nodes`."""
        here = self.game.compiled_state(state)
        if here is None:
            return StateCounting(self.game, self.by_turns).nodes(state, depth)
        first = Frontier(np.frombuffer(here.packed, np.uint8)[None], np.ones(1, np.int64))
        with ThreadPoolExecutor(self.n_threads) as pool:
            return self._count(first, depth, pool)

    def _count(self, frontier: Frontier, depth: int, pool: ThreadPoolExecutor) -> int:
        """Return how many nodes there are at *depth* below a frontier."""
        if depth == 0 or not len(frontier):
            return frontier.total()
        if depth == 1 and not self.by_turns:
            return sum(pool.map(self._n_following, frontier.parts(CHUNK)))
        found, gathering = 0, Gathering()
        for part in self._following(frontier, pool):
            found += sum(self._count(after, depth - 1, pool) for after in gathering.add(part))
        return found + sum(self._count(after, depth - 1, pool) for after in gathering.rest())

    def _n_following(self, frontier: Frontier) -> int:
        return frontier.total(self._choices(frontier).n_joint)

    def _following(self, frontier: Frontier, pool: ThreadPoolExecutor) -> Iterator[Frontier]:
        """Yield in parts what follows all joint moves of a frontier, or whole turns.

        A turn is the steps of one role alone, until others are to move or the play ends.
        """
        left = [frontier]
        while left:
            going = Gathering()
            for over, on in self._steps(left.pop(), pool):
                yield over
                for part in going.add(on):
                    yield from self._following(part, pool)
            left += going.rest()

    def _steps(self, frontier: Frontier, pool: ThreadPoolExecutor) -> Iterator[tuple[Frontier, Frontier]]:
        """Yield in parts what follows all joint moves: where a step, or turn, is over by that, and where it goes on."""
        cut = _in_order(pool, self.n_threads, self._cut, frontier.parts(CHUNK))
        return _in_order(pool, self.n_threads, self._step, (moves for part in cut for moves in part))

    def _cut(self, frontier: Frontier) -> list[_JointMoves]:
        """Return the joint moves of a frontier, in parts that are made at once."""
        choices = self._choices(frontier)
        n_joint = choices.n_joint
        if n_joint.max() > MOST_MADE:
            raise TooManyJointMovesError(int(n_joint.max()))
        numbers = range(int(n_joint.sum()))
        return [_JointMoves(frontier, choices, numbers[n : n + MOST_AT_ONCE]) for n in numbers[::MOST_AT_ONCE]]

    def _step(self, moves: _JointMoves) -> tuple[Frontier, Frontier]:
        after, made_by = self._made(moves)
        if not self.by_turns:
            return together([after]), after.where(np.zeros(len(after), np.bool_))
        movers, choices = moves.choices.movers[made_by], self._choices(after)
        may_go_on = (movers.sum(axis=1) == 1) & (len(self.game.roles) > 1)
        is_over = choices.is_over | ~may_go_on | (choices.movers != movers).any(axis=1)
        return together([after.where(is_over)]), together([after.where(~is_over)])

    def _choices(self, frontier: Frontier) -> _Choices:
        """Return what may be moved in the states of a frontier."""
        legal, is_over = self.game.batch.legal_and_terminal(frontier.packed)
        n_legal = np.zeros((len(frontier), len(self.game.roles)), np.int64)
        moves, movers = [], np.ones((len(frontier), len(self.game.roles)), np.bool_)
        for r, numbers in enumerate(self.game.moves_of):
            mask = legal[:, numbers[0] : numbers[-1] + 1] & ~is_over[:, None]
            n_legal[:, r] = mask.sum(axis=1)
            moves.append(np.nonzero(mask)[1] + numbers[0])
            is_one = n_legal[:, r] == 1
            only = moves[r][(np.cumsum(n_legal[:, r]) - n_legal[:, r])[is_one]]
            waits = np.array([_waits([self.game.moves[number]]) for number in numbers], np.bool_)
            movers[is_one, r] = ~waits[only - numbers[0]]
            if not (n_legal[:, r] > 0)[~is_over].all():
                raise StuckRoleError(str(self.game.roles[r]))
        return _Choices(is_over, n_legal, tuple(moves), movers)

    def _made(self, moves: _JointMoves) -> tuple[Frontier, NDArray[np.int64]]:
        """Return what follows joint moves, a state for each, and the number of the state in which each was made."""
        frontier, choices = moves.frontier, moves.choices
        ends = np.cumsum(choices.n_joint)
        left = np.arange(moves.numbers.start, moves.numbers.stop)
        at = np.searchsorted(ends, left, side="right")
        left -= (ends - choices.n_joint)[at]
        made = np.zeros((len(at), len(self.game.roles)), np.int64)
        for r, legal in enumerate(choices.moves):
            n = choices.n_legal[:, r]
            made[:, r] = legal[(np.cumsum(n) - n)[at] + left % n[at]]
            left //= n[at]
        return Frontier(self.game.batch.next(frontier.packed[at], made), frontier.weights[at]), at


def _in_order(
    pool: ThreadPoolExecutor, n_threads: int, work: Callable[[_Task], _Found], tasks: Iterable[_Task]
) -> Iterator[_Found]:
    """Yield what *work* makes of each task, in their order, with few begun before they are asked for."""
    begun = deque[Future[_Found]]()
    for task in tasks:
        begun.append(pool.submit(work, task))
        if len(begun) > n_threads:
            yield begun.popleft().result()
    while begun:
        yield begun.popleft().result()
