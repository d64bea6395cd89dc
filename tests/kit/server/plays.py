"""Small games, and a scripted peer for the match core: the test tells it what to expect and what to answer."""

from __future__ import annotations

from collections.abc import Sequence

from gdl.engines import make_game
from gdl.game import Game
from gdl.language.rules import read_rules
from gdl.language.terms import Constant
from server.match.core import Match
from server.match.exchange import (
    AbortRequest,
    Answer,
    AskPlayer,
    Begin,
    Drop,
    Evaluate,
    Evaluated,
    EvaluationFailed,
    Event,
    Input,
    ReplyEnding,
)
from server.match.position import first_position, next_position
from server.match.profiles import Profile
from server.match.setup import MatchSetup, Seat, Substitute

LEFT, RIGHT = Constant("left"), Constant("right")

TWO_STEPS = """
(role left) (role right) (init (at 0)) (succ 0 1) (succ 1 2)
(<= (legal ?r (say ?w)) (role ?r) (word ?w)) (word Yes) (word no)
(<= (next (at ?j)) (true (at ?i)) (succ ?i ?j))
(<= (next (last ?r ?w)) (does ?r (say ?w)))
(<= terminal (true (at 2)))
(<= (goal ?r 100) (true (last ?r Yes))) (<= (goal ?r 0) (true (last ?r no)))
"""
"""Both say yes or no, twice; who says yes in the end has won. One word has a capital."""

DEALT = """
(role random) (role left) (init (at 0)) (succ 0 1) (succ 1 2)
(card ace) (card king) (card queen)
(<= (legal random (deal ?c)) (card ?c))
(<= (legal left (guess ?c)) (card ?c))
(<= (sees left (card ?c)) (does random (deal ?c)))
(<= (next (at ?j)) (true (at ?i)) (succ ?i ?j))
(<= (next hit) (does random (deal ?c)) (does left (guess ?c)))
(<= terminal (true (at 2)))
(<= (goal left 100) (true hit)) (<= (goal left 0) (not (true hit)))
"""
"""GDL-II: chance deals twice, and the player guesses; `random` has no goal."""


def two_steps() -> Game:
    return make_game(read_rules(TWO_STEPS))


def dealt() -> Game:
    return make_game(read_rules(DEALT))


def setup(
    *profiles: Profile, roles: Sequence[Constant] = (LEFT, RIGHT), substitute: Substitute = Substitute.RANDOM
) -> MatchSetup:
    given = profiles or (Profile(),) * len(roles)
    seats = tuple(Seat(role, f"{role}'s player", profile) for role, profile in zip(roles, given, strict=True))
    return MatchSetup(seats, 10, 5, match_id="m.1", seed=7, scramble_seed=8, substitute=substitute)


class Script:
    """A match whose commands are held against expectations; states are worked out at once unless *is_slow*."""

    def __init__(self, game: Game, terms: MatchSetup, *, is_slow: bool = False) -> None:
        self.game, self.match, self.is_slow = game, Match(game, terms), is_slow
        self.events: list[Event] = []
        self.asks: list[AskPlayer] = []
        self.answered: list[AskPlayer] = []
        self.dropped: list[int] = []
        self.evaluations: list[Evaluate] = []
        self.at_ms = 1000

    def begin(self) -> None:
        self.feed(Begin(self.at_ms))

    def feed(self, happened: Input) -> None:
        for output in self.match.receive(happened):
            match output:
                case AskPlayer():
                    self.asks.append(output)
                case Drop(question=number):
                    self.dropped.append(number)
                    self.asks = [ask for ask in self.asks if ask.question != number]
                case Evaluate():
                    self.evaluations.append(output)
                case event:
                    self.events.append(event)
        if self.evaluations and not self.is_slow:
            self.evaluate()

    def evaluate(self) -> None:
        """Work out the state that the match waits for."""
        command = self.evaluations.pop()
        happened: Input
        try:
            if command.position is None:
                happened = Evaluated(self.at_ms, first_position(self.game))
            else:
                happened = Evaluated(self.at_ms, next_position(self.game, command.position, command.moves))
        except Exception as error:
            happened = EvaluationFailed(self.at_ms, error)
        self.feed(happened)

    def expect(self, role: Constant, text: str | None, reply: str | bytes | ReplyEnding, detail: str = "") -> None:
        """Hold that *role* is asked *text* (None: whatever), and let it answer; 250 ms pass."""
        ask = next((ask for ask in self.asks if ask.role is role), None)
        assert ask is not None, f"{role} is not asked anything"
        if text is not None:
            assert ask.text == text
        self.asks.remove(ask)
        self.answered.append(ask)
        ending = reply if isinstance(reply, ReplyEnding) else ReplyEnding.REPLIED
        raw = b"" if isinstance(reply, ReplyEnding) else reply.encode() if isinstance(reply, str) else reply
        self.at_ms += 250
        self.feed(Answer(self.at_ms, ask.question, role, ending, raw, 250, detail))

    def expect_both(self, left: str | bytes | ReplyEnding, right: str | bytes | ReplyEnding) -> None:
        self.expect(LEFT, None, left)
        self.expect(RIGHT, None, right)

    def abort(self, reason: str) -> None:
        self.feed(AbortRequest(self.at_ms, reason))

    def assert_done(self) -> None:
        assert self.asks == []
        assert self.evaluations == []
