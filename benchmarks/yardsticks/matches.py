"""Matches of a player of ours against a yardstick, by processor time: each opening twice, with the roles exchanged."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean
from typing import Any, ClassVar, Final, TypeAlias

from benchmarks.yardsticks.child import Child, Yardstick
from gdl.errors import CallerError
from gdl.game import Game, Role, State, played_roles
from gdl.language.terms import Term
from players.deadline import Deadline, SearchBudget, by_processor_time
from players.player import Player
from players.registry import PlayerMaker
from server.measuring.accuracy import START_S, wilson
from server.tournament.fixtures import MatchResult
from server.tournament.sprt import SprtTest, pentanomial

JointMoves: TypeAlias = tuple[tuple[Term, ...], ...]
OURS: Final = "ours"
THEIRS: Final = "yardstick"
MOST_OWED: Final = 4
"""How many moves' time a player may have left, to use it later."""
_TEST: Final = SprtTest(elo0=0.0, elo1=50.0)
_WARM_UP_S: Final = 0.5
_LONG_S: Final = 30.0
_MOST_DRAWS: Final = 100


class GoalError(CallerError):
    """The referee and a yardstick hold different goals for the end of a match."""

    template: ClassVar[str] = "the end is worth {ours} to {role}, and {theirs} by the yardstick `{command}`"
    ours: int | None
    theirs: int
    role: str
    command: str


@dataclass(frozen=True, slots=True)
class Played:
    """A match: its result, its steps, and the processor time of the moves of both that had a choice.

    *Units*: seconds for all moves together.
    """

    result: MatchResult
    n_steps: int
    used_s: float
    n_moves: int
    yardstick_used_s: float
    yardstick_n_moves: int

    @property
    def points(self) -> float:
        """What our player gets: 1, 1/2 or 0."""
        ours = self.result.players.index(OURS)
        return self.result.points(ours, 1 - ours)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the matches of a player against a yardstick came to. *Units*: seconds of processor time a move."""

    game: str
    player: str
    yardstick: str
    level: str
    seconds: float
    played: tuple[Played, ...]

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many matches our player won, drew and lost."""
        points = [match.points for match in self.played]
        return points.count(1.0), points.count(0.5), points.count(0.0)

    @property
    def share(self) -> float:
        """The points of our player for each match."""
        return fmean(match.points for match in self.played)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share, as if matches were independent: draws and pairs make it wide rather."""
        return wilson(self.share * len(self.played), len(self.played))

    @property
    def llr(self) -> float:
        """The log-likelihood ratio of 50 points of normalised Elo against none, from the pairs of matches."""
        return _TEST.llr(pentanomial([match.result for match in self.played], OURS, THEIRS))

    def figures(self) -> dict[str, Any]:
        """Return the outcome as JSON has it."""
        won, drawn, lost = self.counts
        return {
            "game": self.game, "player": self.player, "yardstick": self.yardstick, "level": self.level,
            "seconds": self.seconds, "matches": len(self.played), "won": won, "drawn": drawn, "lost": lost,
            "share": round(self.share, 4), "interval": [round(bound, 4) for bound in self.interval],
            "llr": round(self.llr, 2), "steps": round(fmean(match.n_steps for match in self.played), 1),
            "used_s": _mean((match.used_s, match.n_moves) for match in self.played),
            "yardstick_used_s": _mean((match.yardstick_used_s, match.yardstick_n_moves) for match in self.played),
        }  # fmt: skip


def _mean(parts: Iterator[tuple[float, int]]) -> float | None:
    """Return the seconds for each move, None where there was none."""
    pairs = list(parts)
    n_moves = sum(n for _, n in pairs)
    return round(sum(used_s for used_s, _ in pairs) / n_moves, 4) if n_moves else None


def draw_opening(game: Game, n_steps: int, random: Random) -> JointMoves:
    """Return *n_steps* joint moves at random, which do not end the game.

    Raises:
        ValueError: nearly all such openings end it.
    """
    for _ in range(_MOST_DRAWS):
        state, steps = game.initial_state, JointMoves()
        while not state.is_terminal and len(steps) < n_steps:
            moves = tuple(random.choice(state.legal_moves(role)) for role in game.roles)
            state, steps = state.next_state(moves), (*steps, moves)
        if not state.is_terminal:
            return steps
    raise ValueError(f"the game hardly ever lasts for {n_steps} steps")


def warm_up(game: Game, maker: PlayerMaker) -> None:
    """Load what a player of *maker* loads once: its first move would be late."""
    player, role, state = maker(), played_roles(game)[0], game.initial_state
    player.warm_up()
    player.join(game, role, 0)
    player.start(by_processor_time(_LONG_S))
    player.prepare_move(state.legal_moves(role)[0], lambda _: None)
    player.move(state, role, by_processor_time(_WARM_UP_S))
    player.abort()


@dataclass(frozen=True, slots=True)
class Encounter:
    """A game at which a player of *maker* meets the yardstick *child*.

    *Units*: seconds of processor time a move, and before the first one.
    """

    game: Game
    maker: PlayerMaker
    child: Child
    seconds: float
    start_s: float = START_S

    def play_pairs(
        self, n_matches: int, n_opening: int, seed: int, on_match: Callable[[], None] = lambda: None
    ) -> tuple[Played, ...]:
        """Return at least *n_matches*, an even number: each opening, of *n_opening* steps, with the roles exchanged.

        Raises:
            YardstickError: the yardstick does not agree with the referee, or fails.
            GoalError: it holds another goal for the end.
        """
        random, played = Random(seed), list[Played]()
        while len(played) < n_matches:
            opening, number = draw_opening(self.game, n_opening, random), len(played) // 2
            for role in played_roles(self.game):
                played.append(self.play(role, opening, seed + number))
                on_match()
        return tuple(played)

    def play(self, role: Role, opening: JointMoves, seed: int) -> Played:
        """Return a match in which our player has *role* and the first steps are *opening*. Raises: as `play_pairs`."""
        (other,) = (each for each in played_roles(self.game) if each is not role)
        player, yardstick = self.maker(), Yardstick(self.child, len(opening))
        match = _Match({role: player, other: yardstick}, self.game.initial_state, self.game.roles)
        player.join(self.game, role, seed)
        yardstick.join(self.game, other, seed)
        player.start(by_processor_time(self.start_s))
        yardstick.start(Deadline.after(START_S))
        while not match.state.is_terminal:
            match.step(opening[match.n_steps] if match.n_steps < len(opening) else None, self.seconds)
        player.stop()
        yardstick.stop()
        _check_goal(match.state, yardstick)
        goals = tuple(match.state.goal(each) or 0 for each in (role, other))
        ends = sorted(
            zip((role, other), (OURS, THEIRS), goals, strict=True), key=lambda end: self.game.roles.index(end[0])
        )
        result = MatchResult(
            "", tuple(name for _, name, _ in ends), tuple(goal for *_, goal in ends), match_id=str(seed)
        )
        return Played(result, match.n_steps, match.used_s, match.n_moves, yardstick.used_s, yardstick.n_moves)


@dataclass(slots=True)
class _Match:
    """A running match: what our player leaves of its time, it has at its next moves, as OpenSpiel has.

    A search that measures its batches by the clock ends early on a busy machine.
    """

    players: dict[Role, Player]
    state: State
    roles: Sequence[Role]
    n_steps: int = 0
    used_s: float = 0.0
    n_moves: int = 0
    owed_s: float = 0.0

    def step(self, drawn: tuple[Term, ...] | None, seconds: float) -> None:
        """Make the step that was *drawn*, which the yardstick hears of by a question, or that which both choose."""
        before = self.state
        chosen = {
            role: self._move(role, player, seconds)
            for role, player in self.players.items()
            if drawn is None or isinstance(player, Yardstick)
        }
        moves = drawn or tuple(chosen[role] for role in self.roles)
        self.state = before.next_state(moves)
        self.n_steps += 1
        for role, player in self.players.items():
            percepts, own_move = before.percepts(role, moves), moves[self.roles.index(role)]
            if not self.state.is_terminal:
                player.worlds.advance(own_move, percepts, SearchBudget())
            player.perceive(own_move, percepts)

    def _move(self, role: Role, player: Player, seconds: float) -> Term:
        legal = self.state.legal_moves(role)
        player.prepare_move(legal[0], lambda _: None)
        begun_s = time.process_time()
        move = player.move(self.state, role, by_processor_time(seconds + self.owed_s))
        if len(legal) > 1 and not isinstance(player, Yardstick):
            used_s = time.process_time() - begun_s
            self.used_s += used_s
            self.n_moves += 1
            self.owed_s = max(-seconds / 2, min(MOST_OWED * seconds, self.owed_s + seconds - used_s))
        return move


def _check_goal(state: State, yardstick: Yardstick) -> None:
    goal = state.goal(yardstick.role)
    if yardstick.goal is not None and yardstick.goal != goal:
        raise GoalError(goal, yardstick.goal, str(yardstick.role), yardstick.child.command)
