"""What a player's answer is worth: a legal move, or the error that the public match record has words for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gdl.errors import MessageError
from gdl.replies import find_move, first_term
from gdl.terms import Term
from gdl.wire import decode
from server.match.exchange import Answer, Ending

TIME_OUT: Final = "TO"
CONNECTION_ERROR: Final = "CE"
ILLEGAL: Final = "IL"
MAX_SHOWN: Final = 300
MAX_TEXT: Final = 100_000
"""How many characters of a reply are kept."""

_HINTS: Final = {
    "aborted": "the player seems to have given up the match",
    "busy": "the player seems to have given up the match, or to be in another one",
    "ready": "that answers START",
    "done": "that answers STOP",
    "nil": "nil is no move",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The legal move, or the error in the record's words with a sentence that explains it; both for neither."""

    move: Term | None = None
    error: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """The legal moves of a role, and how the names that its player knows translate from the game's own and back."""

    legal_moves: tuple[Term, ...]
    inwards: Callable[[Term], Term]
    outwards: Callable[[Term], Term]

    def find(self, said: Term) -> Term | None:
        """Return the legal move that *said* names in the names that the player knows."""
        move = find_move(self.inwards(said), self.legal_moves)
        # Names that the player was never sent stay as they are inwards, and must not pass.
        return move if move is not None and _folded(self.outwards(move)) == _folded(said) else None

    def hint(self, said: Term) -> str:
        """Return why *said* may have failed, or nothing."""
        own = self.inwards(said)
        n_alike = sum(_folded(move) == _folded(own) for move in self.legal_moves)
        if n_alike > 1:
            return f"it names {n_alike} legal moves that differ in upper and lower case alone"
        return "it uses names that the player was not sent" if n_alike else _HINTS.get(_folded(said), "")


def _folded(term: Term) -> str:
    return str(term).casefold()


def text_of(answer: Answer) -> str:
    """Return what came, as text: all of a usual reply, the beginning of an enormous one."""
    return decode(answer.raw)[:MAX_TEXT]


def judge_courtesy(answer: Answer) -> Verdict:
    """Return what an answer to START, STOP and the like is worth: whatever it says is fine, if only it came."""
    return _UNANSWERED[answer.ending](answer) if answer.ending in _UNANSWERED else Verdict()


def judge_move(answer: Answer, choice: Choice) -> Verdict:
    """Return the move that *answer* chooses.

    When the wait ended without an end of the reply, what had come counts if it is a legal move: a name alone ends at
    the deadline too.
    """
    try:
        said = first_term(decode(answer.raw))
    except MessageError as error:
        return judge_courtesy(answer) if answer.ending in _UNANSWERED else _garbled(answer, error)
    move = choice.find(said)
    if move is not None:
        return Verdict(move)
    return judge_courtesy(answer) if answer.ending in _UNANSWERED else _illegal(said, choice)


def _timed_out(answer: Answer) -> Verdict:
    came = f"; {len(answer.raw):,} bytes without an end had come" if answer.raw else "; nothing had come"
    return Verdict(None, TIME_OUT, f"no reply within {answer.elapsed_ms / 1000:.1f} s{came}")


def _failed(answer: Answer) -> Verdict:
    return Verdict(None, CONNECTION_ERROR, answer.detail or "the connection failed")


_UNANSWERED: Final[dict[Ending, Callable[[Answer], Verdict]]] = {Ending.TIMED_OUT: _timed_out, Ending.FAILED: _failed}


def _garbled(answer: Answer, error: MessageError) -> Verdict:
    shown = _shown(" ".join(text_of(answer).split()))
    return Verdict(None, f"{ILLEGAL} {shown}".strip(), f"no move: {answer.detail or error.message}")


def _illegal(said: Term, choice: Choice) -> Verdict:
    hint = choice.hint(said)
    return Verdict(None, f"{ILLEGAL} {_shown(str(choice.inwards(said)))}", f"no legal move{hint and f': {hint}'}")


def _shown(text: str) -> str:
    """Return *text* cut to what a record can bear, without control characters."""
    kept = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[:MAX_SHOWN])
    return f"{kept}…" if len(text) > MAX_SHOWN else kept
