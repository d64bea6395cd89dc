"""The text on the wire: where its terms begin and end, and what players answer."""

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final

from gdl.diagnostics import Source
from gdl.errors import KifSyntaxError, MessageError
from gdl.language.kif import BLANK, BLANKS, COMMENT, TOKEN, ReadLimits, read_forms, read_term, term_of
from gdl.language.terms import Compound, Term

WIRE_LIMITS: Final = ReadLimits(max_characters=10_100_000, max_depth=25_010)
"""What is read of one message, rules included; *Units*: characters, levels."""
MOVE_LIMITS: Final = ReadLimits(max_characters=100_000, max_depth=25_000)
"""What is read of the moves or percepts of a step: reading them has to be over in a moment."""

_COMMENT: Final = re.compile(COMMENT)
_BLANKS: Final = re.compile(f"{BLANK}+")


def decode(body: bytes) -> str:
    """Return the text of *body*: UTF-8 if it is that, else Latin-1, which never fails."""
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return body.decode("latin-1")


def one_line(text: str) -> str:
    """Return KIF *text* on one line, without comments, with single blanks."""
    return _BLANKS.sub(" ", _COMMENT.sub(" ", text)).strip(BLANKS)


def has_more_tokens(text: str, limit: int) -> bool:
    """Return whether *text* has more names, parentheses and comments than *limit*; the rest of them is not looked at.

    Example:
        >>> has_more_tokens("(mark 1 1)", 5), has_more_tokens("(mark 1 1)", 4)
        (False, True)
    """
    return next(islice(TOKEN.finditer(text), limit, None), None) is not None


def spans(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield where the complete elements of *text* between *start* and *end* stand, as offsets.

    Raises:
        MessageError: a parenthesis closes what nothing opened, or is never closed.
    """
    depth, opened = 0, start
    for token in TOKEN.finditer(text, start, len(text) if end is None else end):
        first = text[token.start()]
        if first == "(":
            opened = token.start() if depth == 0 else opened
            depth += 1
        elif first == ")":
            depth -= 1
            if depth < 0:
                raise MessageError("a closing parenthesis that nothing opened", text[token.start() :])
            if depth == 0:
                yield opened, token.end()
        elif depth == 0 and first != ";":
            yield token.span()
    if depth:
        raise MessageError("a parenthesis is never closed", text[opened : opened + 200])


def elements(text: str) -> tuple[str, ...] | None:
    """Return the texts of the elements of the list *text*, or None if it is no list.

    Raises:
        MessageError: its parentheses do not balance.
    """
    if not text.startswith("("):
        return None
    return tuple(text[start:end] for start, end in spans(text, 1, len(text) - 1))


def first_element(text: str) -> str:
    """Return the text of the first name or list of *text*; what follows it is not looked at.

    Raises:
        MessageError: there is none, its parentheses do not balance, or it is longer than `WIRE_LIMITS` allow.
    """
    if len(text) > WIRE_LIMITS.max_characters:
        raise MessageError(f"longer than {WIRE_LIMITS.max_characters:,} characters", text)
    for start, end in spans(text):
        return text[start:end]
    raise MessageError("nothing was said", text)


def terms_of(text: str) -> tuple[Term, ...] | None:
    """Return the terms of the list *text*, or None for NIL; a name alone counts as a list of one.

    Raises:
        MessageError: an element is no term.
    """
    if text.lower() == "nil":
        return None
    inner = text[1:-1] if text.startswith("(") else text
    try:
        return tuple(term_of(form) for form in read_forms(Source("<message>", inner), MOVE_LIMITS))
    except KifSyntaxError as error:
        raise MessageError(error.message, text) from error


def term_of_text(text: str) -> Term:
    """Return the one term that *text* writes.

    Raises:
        MessageError: it is no term.
    """
    try:
        return read_term(text, MOVE_LIMITS)
    except KifSyntaxError as error:
        raise MessageError(error.message, text) from error


def first_term(reply: str) -> Term:
    """Return the first term of *reply*; players may say more after it, which does not count.

    Raises:
        MessageError: it does not begin with a term.

    Example:
        >>> str(first_term('(mark 1 1) (explanation "because")'))
        '(mark 1 1)'
    """
    if len(reply) <= MAX_REMEMBERED:
        return _first_term_again(reply)
    return term_of_text(first_element(reply))


MAX_REMEMBERED: Final = 120
"""How long the replies are whose terms are remembered: players say the same few moves again and again."""


@lru_cache(4_096)
def _first_term_again(reply: str) -> Term:
    return term_of_text(first_element(reply))


def is_complete(reply_so_far: str) -> bool:
    """Return whether nothing that may still come could change the first term of the reply.

    A list ends at its parenthesis, a name at the blank or parenthesis after it, a JSON object at its brace; a
    closing parenthesis that nothing opened is garbage already.

    Example:
        >>> [is_complete(reply) for reply in ("(mark 1", "(mark 1 1)", "noo", "noop ", ")")]
        [False, True, False, True, True]
    """
    start = len(reply_so_far) - len(reply_so_far.lstrip(BLANKS))
    if reply_so_far.startswith("{", start):
        return _is_json(reply_so_far)
    try:
        for _, end in spans(reply_so_far):
            return reply_so_far[end - 1] == ")" or end < len(reply_so_far)
    except MessageError:
        return reply_so_far[_first_token(reply_so_far)] == ")"
    return False


def _first_token(text: str) -> int:
    return next(token.start() for token in TOKEN.finditer(text) if text[token.start()] != ";")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def find_move(said: Term, legal_moves: Sequence[Term]) -> Term | None:
    """Return the legal move that *said* names: itself, else the only one that differs in upper and lower case alone.

    Example:
        >>> from gdl.language.kif import read_term
        >>> find_move(read_term("(MARK 1 1)"), [read_term("(mark 1 1)"), read_term("noop")])
        <Compound (mark 1 1)>
    """
    if said in legal_moves:
        return legal_moves[legal_moves.index(said)]  # what is equal may be anything, such as what a player returns
    folded = str(said).casefold()
    alike = [move for move in legal_moves if str(move).casefold() == folded]
    return alike[0] if len(alike) == 1 else None


BARE_HINT: Final = "a move of several words stands in parentheses, else its first word alone is read"
"""What to say where a reply is bare."""


def is_bare(said: Term, legal_moves: Sequence[Term]) -> bool:
    """Return whether *said* is but the first word of a legal move: `mark 1 1` without parentheses is read as `mark`.

    Example:
        >>> is_bare(first_term("mark 1 1"), [first_term("(mark 1 1)"), first_term("noop")])
        True
    """
    first_word = str(said).casefold()
    return any(isinstance(move, Compound) and move.functor.casefold() == first_word for move in legal_moves)
