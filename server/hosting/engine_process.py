"""The process that runs the rules of one game that somebody uploaded: questions come in, positions go out.

It ends with its standard input, and by its own limit of memory; how long a question may take is for who asks.
"""

from __future__ import annotations

import os
import pickle
import resource
import sys
from dataclasses import dataclass, replace
from typing import BinaryIO, Final

from cachetools import LRUCache

from gdl.engines import make_game
from gdl.errors import ChildProcessDiedError, LimitExceeded
from gdl.game import Game, JointMove, State
from gdl.limits import EvaluationLimits
from gdl.rules import read_rules
from gdl.terms import Term
from server.match.position import Position, first_position, next_position

MEGABYTE: Final = 1024 * 1024
MAX_STATES: Final = 1_000
"""How many states are remembered, with what was worked out of them."""


@dataclass(frozen=True, slots=True)
class Engine:
    """What a process is told first."""

    rules: str
    limits: EvaluationLimits
    max_memory_mb: int


@dataclass(frozen=True, slots=True)
class Question:
    """A position is wanted: the first one (`facts` is None), or the one after *moves* in the state of *facts*."""

    step: int = 0
    facts: frozenset[Term] | None = None
    moves: JointMove = ()


@dataclass(frozen=True, slots=True)
class Found:
    """An answer: what `Position` holds but for the state itself; or the error that there is instead."""

    position: Position | None = None
    error: Exception | None = None


def write(stream: BinaryIO, value: object) -> None:
    """Write *value*: eight bytes of length, and a pickle."""
    body = pickle.dumps(value)
    stream.write(len(body).to_bytes(8, "big") + body)
    stream.flush()


def read(stream: BinaryIO) -> object:
    """Return the next value of *stream*.

    Raises:
        EOFError: there is none.
    """
    head = stream.read(8)
    if len(head) < 8:
        raise EOFError
    value: object = pickle.loads(stream.read(int.from_bytes(head, "big")))  # noqa: S301 -- written by our own code
    return value


class _Answers:
    """Answers questions about one game; states are found again by their facts."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._states: LRUCache[frozenset[Term], State] = LRUCache(MAX_STATES)

    def position(self, question: Question) -> Position:
        """Return the position that is asked for, without its state, which stays here."""
        if question.facts is None:
            found = first_position(self._game)
        else:
            before = Position(question.step, self._state(question.facts), question.facts, None, None, (), None)
            found = next_position(self._game, before, question.moves)
        assert found.state is not None
        self._states[found.facts] = found.state
        return replace(found, state=None)

    def _state(self, facts: frozenset[Term]) -> State:
        return self._states.get(facts) or self._game.state(facts)


def main() -> None:
    """Be the process, until nobody asks any more."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    engine = read(sys.stdin.buffer)
    assert isinstance(engine, Engine)
    resource.setrlimit(resource.RLIMIT_AS, (engine.max_memory_mb * MEGABYTE,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers: _Answers | None = None
    while True:
        try:
            question = read(sys.stdin.buffer)
        except EOFError:
            os._exit(0)  # whatever is compiled in the background is of no use any more
        assert isinstance(question, Question)
        try:
            answers = answers or _Answers(make_game(read_rules(engine.rules, "rules"), limits=engine.limits))
            found = Found(answers.position(question))
        except MemoryError:
            found = Found(error=LimitExceeded("megabytes of memory", engine.max_memory_mb))
        except Exception as error:  # it belongs to the match that asked
            found = Found(error=_plain(error))
        write(replies, found)


def _plain(error: Exception) -> Exception:
    """Return *error* as it can be sent."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 -- pickled in this line
    except Exception:  # whatever hinders it, the description is what is left
        return ChildProcessDiedError(f"{type(error).__name__}: {str(error)[:1000]}")
    return error
