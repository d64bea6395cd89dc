"""What a child process works out of rules from outside: the outline of the game, and the positions of its engine.

It loads this module, and little of the server beside it. How long a request may take is for the caller. A state crosses
the pipe as its text, which the event loop at the other end can pass on without reading it.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from cachetools import LRUCache

from gdl.engines import make_game
from gdl.errors import LimitExceeded
from gdl.game import EvaluationLimits, Game, JointMove, Role, State
from gdl.interpreter import InterpretedGame
from gdl.language.rules import Description, read_rules
from gdl.language.terms import Term
from gdl.process_limits import MEGABYTE
from server.match.position import Position, facts_in, first_position, next_position

KILOBYTE: Final = 1024
MAX_STATES: Final = 1_000
"""How many states are remembered, with what was worked out of them, if their texts are small."""
MAX_REMEMBERED: Final = 8 * MEGABYTE
"""How many characters the texts of all states have that are remembered."""
MAX_PERCEPTS: Final = 64 * KILOBYTE
"""How many characters all percepts of a step may have: they go into messages."""


@dataclass(frozen=True, slots=True)
class GameOutline:
    """What a match knows of a game without asking an engine."""

    description: Description
    roles: tuple[Role, ...]
    has_imperfect_information: bool


def read_outline(rules: str, name: str) -> GameOutline:
    """Return the outline of *rules*; raises RuleFileError where they cannot be played."""
    return outline_here(read_rules(rules, name))


def outline_here(description: Description) -> GameOutline:
    """Return the outline of *description*, worked out in this process; raises RuleFileError as `read_outline`."""
    game = InterpretedGame(description)
    return GameOutline(game.description, game.roles, game.has_imperfect_information)


@dataclass(frozen=True, slots=True)
class PositionRequest:
    """A position is wanted: the first one (`text` is None), or the one after *moves* in the state of *text*."""

    step: int = 0
    text: str | None = None
    moves: JointMove = ()
    is_common: bool = False


@dataclass(frozen=True, slots=True)
class PackedPosition:
    """A position on its way out of a worker: the text of its state, and a pickle of all else."""

    text: str
    rest: bytes

    def unpacked(self) -> Position:
        """Return the position, which has its text but not its state."""
        position = pickle.loads(self.rest)  # noqa: S301 -- written by our own code
        assert isinstance(position, Position)
        for term in _terms(position):
            str(term)  # terms remember how they are printed
        return replace(position, text=self.text)


def _terms(position: Position) -> Iterable[Term]:
    for terms in (*position.legal_moves, *(position.percepts or ())):
        yield from terms


@dataclass(slots=True)
class Engine:
    """What a worker calls: it answers requests for positions of the game with these `rules`.

    `max_state` limits the text of a state, and that of what may be done in it.
    """

    rules: str
    limits: EvaluationLimits
    max_state: int
    _answers: _Answers | None = field(default=None, init=False, repr=False)

    def __call__(self, request: PositionRequest) -> PackedPosition:
        """Return the position that is asked for.

        Raises:
            RuleFileError: the rules cannot be played.
            LimitExceeded: it takes too much, or is too large to be passed on.
        """
        if self._answers is None:
            game = make_game(read_rules(self.rules, "rules"), limits=self.limits)
            self._answers = _Answers(game, self.max_state)
        position = self._answers.position(request)
        return PackedPosition(position.text, pickle.dumps(replace(position, text="")))


class _Answers:
    """Answers questions about one game; states are found again by their texts."""

    def __init__(self, game: Game, max_state: int) -> None:
        self._game, self._max_state = game, max_state
        self._states: LRUCache[str, tuple[State, int]] = LRUCache(MAX_REMEMBERED, getsizeof=lambda kept: kept[1])

    def position(self, question: PositionRequest) -> Position:
        """Return the position that is asked for, without its state, which stays here.

        Raises:
            LimitExceeded: it is too large to be passed on.
        """
        if question.text is None:
            found = first_position(self._game)
        else:
            state = self._state(question.text)
            before = Position(
                step=question.step,
                state=state,
                text=question.text,
                moves=None,
                percepts=None,
                legal_moves=(),
                goals=None,
                is_common=question.is_common,
            )
            found = next_position(self._game, before, question.moves)
        assert found.state is not None
        self._check(found)
        size = max(len(found.text), MAX_REMEMBERED // MAX_STATES)
        if size <= MAX_REMEMBERED:
            self._states[found.text] = found.state, size
        return replace(found, state=None)

    def _state(self, text: str) -> State:
        known = self._states.get(text)
        return self._game.state(facts_in(text)) if known is None else known[0]

    def _check(self, position: Position) -> None:
        n_kilobytes = self._max_state / KILOBYTE
        if len(position.text) > self._max_state:
            raise LimitExceeded("kilobytes of facts in one state of these rules", n_kilobytes)
        if _length(position.legal_moves) > self._max_state:
            raise LimitExceeded("kilobytes of legal moves in one state of these rules", n_kilobytes)
        if _length(position.percepts or ()) > MAX_PERCEPTS:
            raise LimitExceeded("characters of percepts in one step of these rules", MAX_PERCEPTS)


def _length(of_roles: Iterable[Iterable[Term]]) -> int:
    return sum(len(str(term)) + 1 for terms in of_roles for term in terms)
