"""Plays in lanes, held against the naive evaluator: followed step by step, and by what many of them come to."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from gdl.compiler.compiled import CompiledGame
from gdl.compiler.kernels.playouts import LanePlayer, LaneTrace
from gdl.errors import StuckPlayError
from gdl.game import Playouts
from tests.fuzz.differences import DifferenceError, same
from tests.fuzz.evaluator import Ends, Fluents, Goals, NaiveGame, Position
from tests.fuzz.packing import fluents_of, packed_states
from tests.kit.gdl.oracle import TooLarge

N_FOLLOWED: Final = 600
"""Plays that are followed: more than there are lanes, so that lanes begin again."""
N_STEPS_FOLLOWED: Final = 150
N_PLAYS: Final = 50_000
N_PLAYS_EACH: Final = 6_000
LOG_CHANCE: Final = math.log(1e11)
"""How unlikely a sum must be to be called wrong, minus the logarithm: one of 10^11 right ones is, at most."""
SURELY: Final = 30.0
"""How often what must be seen happens on average: it fails to once in 10^13 times."""

Followed: TypeAlias = tuple[int, Goals]


def compare_plays(name: str, game: CompiledGame, naive: NaiveGame, met: Sequence[Position], seed: int) -> None:
    """Follow plays from the first state and from another.

    Raises:
        DifferenceError: a state, a move or the end of a play is wrong, or what is counted of them.
    """
    for start in [naive.initial, *(position for position in met if position != naive.initial)][:2]:
        if not start.is_terminal:
            _Following(name, game, naive).compare(start, seed)


def compare_ends(
    name: str, game: CompiledGame, ends: Mapping[Fluents, Ends], first: Fluents, seed: int
) -> Playouts | None:
    """Compare what many plays come to with the chances of all *ends*; return what those from *first* come to.

    Raises:
        DifferenceError: they come to something else.
    """
    found = _initial_playouts(name, game, ends[first], seed)
    if found is not None:
        _check(f"{name}: plays", found, ends[first])
    starts = [fluents for fluents in ends if None not in ends[fluents]]
    if starts:
        each = game.playouts_each(packed_states(game, starts), N_PLAYS_EACH, seed)
        for i, fluents in enumerate(starts):
            _check(f"{name}: plays from many states", each.of(i), ends[fluents])
    return found


def _initial_playouts(name: str, game: CompiledGame, ends: Ends, seed: int) -> Playouts | None:
    stuck = float(ends.get(None, 0))
    try:
        found = game.playouts(game.initial_state, N_PLAYS, seed)
    except StuckPlayError:
        if not stuck:
            raise DifferenceError(f"{name}: stuck", "no play can be stuck") from None
        return None
    if stuck * N_PLAYS > SURELY:
        raise DifferenceError(f"{name}: stuck", f"a play in {1 / stuck:.0f} is stuck, and none of {N_PLAYS} was")
    return None if stuck else found


def _check(name: str, found: Playouts, ends: Ends) -> None:
    def of_role(role: int, value: Callable[[int | None], int]) -> Callable[[Followed], int]:
        return lambda end: value(end[1][role])

    for role, (total, squares, scored) in enumerate(
        zip(found.goal_sums, found.goal_squares, found.n_scored, strict=True)
    ):
        _check_sum(f"{name}: goals", found, total, ends, of_role(role, lambda goal: goal or 0))
        _check_sum(f"{name}: squares of goals", found, squares, ends, of_role(role, lambda goal: (goal or 0) ** 2))
        _check_sum(f"{name}: plays with a goal", found, scored, ends, of_role(role, lambda goal: goal is not None))
    _check_sum(f"{name}: lengths", found, found.n_steps, ends, lambda end: end[0])
    _check_sum(f"{name}: squares of lengths", found, found.step_squares, ends, lambda end: end[0] ** 2)
    lengths = {end[0] for end in ends if end is not None}
    if found.longest not in lengths:
        raise DifferenceError(f"{name}: longest", f"{found.longest} is none of {sorted(lengths)}")


def _check_sum(kind: str, found: Playouts, total: int, ends: Ends, value: Callable[[Followed], int]) -> None:
    """Raise where *total* is too far from what it is on average. Source: the inequality of Bernstein."""
    values = [(value(end), float(chance)) for end, chance in ends.items() if end is not None]
    mean = sum(value * chance for value, chance in values)
    variance = sum((value - mean) ** 2 * chance for value, chance in values)
    farthest = max(abs(value - mean) for value, _ in values)
    n = found.n_plays
    linear = farthest * LOG_CHANCE / 3
    allowed = linear + math.sqrt(linear**2 + 2 * n * variance * LOG_CHANCE) + 1e-9 * n * max(1.0, abs(mean))
    if abs(total - n * mean) > allowed:
        detail = f"{total / n:.5f} on average of {n} plays instead of {mean:.5f} (+- {allowed / n:.5f})"
        raise DifferenceError(kind, detail)


class _Step(NamedTuple):
    """A step of a lane that was found right: the state where it stood, and the next, None where the play is over."""

    here: Position
    following: Position | None
    is_stuck: bool


class _Following:
    """Plays of one game that are followed step by step, each kind of step compared once."""

    def __init__(self, name: str, game: CompiledGame, naive: NaiveGame) -> None:
        self._name, self._game, self._naive = name, game, naive
        self._steps: dict[bytes, _Step] = {}
        self._ended: list[Followed] = []
        self._n_under_way = 0

    def compare(self, start: Position, seed: int) -> None:
        """Follow plays from *start*; where all of them ended, compare what is counted, too."""
        packed = packed_states(self._game, [start.fluents])
        trace = LanePlayer(self._game.rules).trace(packed, N_FOLLOWED, seed, N_STEPS_FOLLOWED)
        try:
            for rows in _rows_of(trace):
                self._follow(start, rows)
        except TooLarge:
            return
        if len(self._ended) == N_FOLLOWED and not self._n_under_way:
            same(
                f"{self._name}: counts",
                start,
                self._game.playouts_each(packed, N_FOLLOWED, seed).of(0),
                self._counted(),
            )

    def _follow(self, start: Position, rows: Iterable[bytes]) -> None:
        here: Position | None = None
        length = 0
        for row in rows:
            if here is None:
                if not row[0]:
                    continue
                here, length = start, 0
            step = self._steps.get(row)
            if step is None or step.here is not here:
                step = self._steps[row] = self._compared(here, row, length)
            if step.following is None:
                self._ended.append((length, here.goals))
                here = None
                continue
            here = step.following
            length += 1
            if step.is_stuck:
                break
        self._n_under_way += here is not None

    def _compared(self, here: Position, row: bytes, length: int) -> _Step:
        is_playing, packed, numbers = bool(row[0]), row[1 : 1 + self._game.n_bytes], row[1 + self._game.n_bytes :]
        same(f"{self._name}: states", f"step {length}", fluents_of(self._game, packed), here.fluents)
        same(f"{self._name}: terminal", here, not is_playing, here.is_terminal)
        if not is_playing:
            return _Step(here, None, is_stuck=False)
        moves = tuple(str(self._game.moves[i]) if i >= 0 else "none" for i in np.frombuffer(numbers, np.int64))
        for move, legal in zip(moves, here.legal, strict=True):
            if move not in legal:
                raise DifferenceError(f"{self._name}: moves", f"{move} is made in {here}")
        following = self._naive.next(here, moves)
        return _Step(here, following, following.is_stuck)

    def _counted(self) -> Playouts:
        goals = list(zip(*(found for _, found in self._ended), strict=True))
        lengths = [length for length, _ in self._ended]
        return Playouts(
            n_plays=len(lengths),
            goal_sums=tuple(sum(goal or 0 for goal in ours) for ours in goals),
            goal_squares=tuple(sum((goal or 0) ** 2 for goal in ours) for ours in goals),
            n_scored=tuple(sum(goal is not None for goal in ours) for ours in goals),
            n_steps=sum(lengths),
            step_squares=sum(length**2 for length in lengths),
            longest=max(lengths),
        )


def _rows_of(trace: LaneTrace) -> Iterator[list[bytes]]:
    """Yield the steps of each lane that plays: whether it does, its state packed, and the numbers of the moves."""
    facts = np.packbits(trace.facts, axis=2)
    parts = trace.is_playing.astype(np.uint8)[:, :, None], facts, np.ascontiguousarray(trace.moves).view(np.uint8)
    steps = np.concatenate(parts, axis=2)
    n_bytes = steps.shape[2]
    for lane in np.flatnonzero(trace.is_playing.any(axis=0)):
        text = steps[:, lane].tobytes()
        yield [text[i : i + n_bytes] for i in range(0, len(text), n_bytes)]
