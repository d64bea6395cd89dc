"""What a player's answer is worth: a legal move, or the error that the public match record has words for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gdl.errors import MessageError
from gdl.language.terms import Term
from gdl.wire.info import is_busy
from gdl.wire.replies import BARE_HINT, decode, find_move, first_term, has_more_tokens, is_bare
from server.match.exchange import Answer, ReplyEnding
from server.sanitization import clean_line, clean_text

TIME_OUT: Final = "TO"
CONNECTION_ERROR: Final = "CE"
ILLEGAL: Final = "IL"
BUSY: Final = f"{ILLEGAL} busy"
"""The error of a player that took no part in the match: all that it said to START, until the start clock was over."""
MAX_SHOWN: Final = 300
MAX_TEXT: Final = 10_000
"""How many characters of a reply are kept."""
FREE_TOKENS: Final = 100
"""How many names, parentheses and comments of a reply are read, however short the legal moves are."""
_MAX_GARBLED: Final = 10 * MAX_SHOWN

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
class LegalChoice:
    """The legal moves of a role, and how the names that its player knows translate from the game's own and back."""

    legal_moves: tuple[Term, ...]
    inwards: Callable[[Term], Term]
    outwards: Callable[[Term], Term]

    def find(self, said: Term) -> Term | None:
        """Return the legal move that *said* names in the names that the player knows."""
        move = find_move(self.inwards(said), self.legal_moves)
        # Names that the player was never sent stay as they are inwards, and must not pass.
        return move if move is not None and _folded(self.outwards(move)) == _folded(said) else None

    def is_exceeded_by(self, reply: str) -> bool:
        """Return whether *reply* has so many tokens that it names no legal move; reading them all would take long."""
        if not has_more_tokens(reply, FREE_TOKENS):
            return False
        # A name is three tokens at most: `(p)` is `p`.
        n_most = 3 * max((move.n_symbols for move in self.legal_moves), default=0)
        return has_more_tokens(reply, FREE_TOKENS + n_most)

    def hint(self, said: Term) -> str:
        """Return why *said* may have failed, or nothing."""
        own = _folded(self.inwards(said))
        n_alike = sum(_folded(move) == own for move in self.legal_moves)
        if n_alike > 1:
            return f"it names {n_alike} legal moves that differ in upper and lower case alone"
        if n_alike:
            return "it uses names that the player was not sent"
        if is_bare(self.inwards(said), self.legal_moves):
            return BARE_HINT
        # Where it is another one's turn, as most often a role has one legal move alone.
        the_only_one = f"the only one is {_shown(str(self.legal_moves[0]))}" if len(self.legal_moves) == 1 else ""
        return _HINTS.get(_folded(said), the_only_one)


def _folded(term: Term) -> str:
    return str(term).casefold()


def text_of(answer: Answer) -> str:
    """Return what came, as text: all of a usual reply, the beginning of an enormous one."""
    return clean_text(decode(answer.raw), MAX_TEXT)


def judge_acknowledgement(answer: Answer) -> Verdict:
    """Return what an answer to START, STOP and the like is worth: whatever it says is fine, if only it came."""
    return _UNANSWERED[answer.ending](answer) if answer.ending in _UNANSWERED else Verdict()


def judge_start(answer: Answer) -> Verdict:
    """Return what an answer to START is worth: that of a player that is busy is an error, any other will do."""
    if answer.ending is ReplyEnding.REPLIED and says_busy(answer.raw):
        return Verdict(None, BUSY, "busy, with another match perhaps, until the start clock was over")
    return judge_acknowledgement(answer)


def says_busy(raw: bytes | bytearray) -> bool:
    """Return whether the reply *raw* says that the player is busy."""
    return is_busy(decode(bytes(raw[:MAX_SHOWN])))


def judge_move(answer: Answer, choice: LegalChoice) -> Verdict:
    """Return the move that *answer* chooses.

    When the wait ended without an end of the reply, what had come counts if it is a legal move: a name alone ends at
    the deadline too.
    """
    text = decode(answer.raw)
    try:
        if choice.is_exceeded_by(text):
            raise MessageError("longer than every legal move", text)
        said = first_term(text)
    except MessageError as error:
        return judge_acknowledgement(answer) if answer.ending in _UNANSWERED else _garbled(answer, error)
    move = choice.find(said)
    if move is not None:
        return Verdict(move)
    return judge_acknowledgement(answer) if answer.ending in _UNANSWERED else _illegal(said, choice)


def _timed_out(answer: Answer) -> Verdict:
    came = f"; {len(answer.raw):,} bytes without an end had come" if answer.raw else "; nothing had come"
    hint = f": {clean_line(answer.detail)}" if answer.detail else ""
    return Verdict(None, TIME_OUT, f"no reply within {answer.elapsed_ms / 1000:.1f} s{came}{hint}")


def _failed(answer: Answer) -> Verdict:
    return Verdict(None, CONNECTION_ERROR, clean_line(answer.detail) or "the connection failed")


_UNANSWERED: Final[dict[ReplyEnding, Callable[[Answer], Verdict]]] = {
    ReplyEnding.TIMED_OUT: _timed_out,
    ReplyEnding.FAILED: _failed,
}


def _garbled(answer: Answer, error: MessageError) -> Verdict:
    shown = _shown(" ".join(text_of(answer).lstrip()[:_MAX_GARBLED].split()))
    return Verdict(None, f"{ILLEGAL} {shown}".strip(), f"no move: {clean_line(answer.detail or error.message)}")


def _illegal(said: Term, choice: LegalChoice) -> Verdict:
    hint = choice.hint(said)
    return Verdict(None, f"{ILLEGAL} {_shown(str(choice.inwards(said)))}", f"no legal move{hint and f': {hint}'}")


def _shown(text: str) -> str:
    """Return *text* cut to what a record can bear, without control characters."""
    kept = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[:MAX_SHOWN])
    return f"{kept}…" if len(text) > MAX_SHOWN else kept
