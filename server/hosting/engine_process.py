"""The process that runs the rules of one uploaded game: requests come in, positions go out.

It ends with its standard input, and by its own limit of memory; how long a request may take is for the caller. A state
crosses the pipe as its text, which the event loop at the other end can pass on without reading it.
"""

from __future__ import annotations

import os
import pickle
import resource
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import BinaryIO, Final

from cachetools import LRUCache

from gdl.engines import make_game
from gdl.errors import ChildProcessDiedError, LimitExceeded
from gdl.game import EvaluationLimits, Game, JointMove, State
from gdl.language.rules import read_rules
from gdl.language.terms import Term
from server.match.position import Position, facts_in, first_position, next_position

KILOBYTE: Final = 1024
MEGABYTE: Final = 1024 * 1024
MAX_STATES: Final = 1_000
"""How many states are remembered, with what was worked out of them, if their texts are small."""
MAX_REMEMBERED: Final = 8 * MEGABYTE
"""How many characters the texts of all states have that are remembered."""
MAX_PERCEPTS: Final = 64 * KILOBYTE
"""How many characters all percepts of a step may have: they go into messages."""


@dataclass(frozen=True, slots=True)
class Engine:
    """What a process reads first; `max_state` limits the text of a state, and that of what may be done in it."""

    rules: str
    limits: EvaluationLimits
    max_memory_mb: int
    max_state: int


@dataclass(frozen=True, slots=True)
class PositionRequest:
    """A position is wanted: the first one (`text` is None), or the one after *moves* in the state of *text*."""

    step: int = 0
    text: str | None = None
    moves: JointMove = ()
    is_common: bool = False


@dataclass(frozen=True, slots=True)
class PositionReply:
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


def write_found(stream: BinaryIO, found: PositionReply) -> None:
    """Write an answer: the lengths of two parts, the text of the state, and a pickle of all else."""
    text = "" if found.position is None else found.position.text
    rest = found if found.position is None else PositionReply(replace(found.position, text=""))
    parts = text.encode("utf-8", "surrogatepass"), pickle.dumps(rest)
    stream.write(b"".join((*(len(part).to_bytes(8, "big") for part in parts), *parts)))
    stream.flush()


def found_in(text: bytes, rest: bytes) -> PositionReply:
    """Return the answer of which the two parts came."""
    found = pickle.loads(rest)  # noqa: S301 -- written by our own code
    assert isinstance(found, PositionReply)
    position = found.position
    if position is None:
        return found
    for term in _terms(position):
        str(term)  # terms remember how they are printed
    return PositionReply(replace(position, text=text.decode("utf-8", "surrogatepass")))


def _terms(position: Position) -> Iterable[Term]:
    for terms in (*position.legal_moves, *(position.percepts or ())):
        yield from terms


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
            before = Position(question.step, state, question.text, None, None, (), None, question.is_common)
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


def main() -> None:
    """Run the process, until its standard input ends."""
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
        assert isinstance(question, PositionRequest)
        try:
            if answers is None:
                game = make_game(read_rules(engine.rules, "rules"), limits=engine.limits)
                answers = _Answers(game, engine.max_state)
            found = PositionReply(answers.position(question))
        except MemoryError:
            found = PositionReply(error=LimitExceeded("megabytes of memory", engine.max_memory_mb))
        except Exception as error:  # it belongs to the match that asked
            found = PositionReply(error=_plain(error))
        write_found(replies, found)


def _plain(error: Exception) -> Exception:
    """Return *error* as it can be sent."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 -- pickled in this line
    except Exception:  # whatever hinders it, the description is what is left
        return ChildProcessDiedError(f"{type(error).__name__}: {str(error)[:1000]}")
    return error
