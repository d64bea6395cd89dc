"""The messages of a match: what a game manager says to a player, as values, printed and read.

`to_text` and `read_message` are a pair: what one prints the other reads back, in each dialect.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from gdl.errors import MessageError, UnsendableMessageError
from gdl.language.kif import NAME_CHARACTER
from gdl.language.terms import Constant, Term
from gdl.wire.replies import elements, first_element, one_line, term_of_text, terms_of

MAX_CLOCK_S: Final = 999_999_999
_ID: Final = re.compile(f"{NAME_CHARACTER}{{1,1000}}")
_SECONDS: Final = re.compile(r"([0-9]{1,9})(\.[0-9]{1,20})?")


class Dialect(StrEnum):
    """How PLAY and STOP tell what happened."""

    GDL1 = "gdl1"
    """`(PLAY id (move ...))`: the last joint move, in the order of the roles."""
    GDL2_PERCEPTS = "gdl2-percepts"
    """`(PLAY id (percept ...))`: the player's percepts; the older form of GDL-II."""
    GDL2 = "gdl2"
    """`(PLAY id turn ownmove (percept ...))`: the current form of GDL-II."""


@dataclass(frozen=True, slots=True)
class Info:
    """The question who a player is, and whether it is free."""


@dataclass(frozen=True, slots=True)
class Ping:
    """The older question whether a player is there."""


@dataclass(frozen=True, slots=True)
class Preview:
    """The rules of a game that may be played later. *Units*: whole seconds."""

    rules: str
    clock_s: int


@dataclass(frozen=True, slots=True)
class Start:
    """A match begins: `rules` is the KIF text of the forms. *Units*: whole seconds."""

    match_id: str
    role: Constant
    rules: str
    start_clock_s: int
    play_clock_s: int


@dataclass(frozen=True, slots=True)
class Play:
    """A move is asked for; `told` is the last joint move or the percepts of it, None before the first.

    `turn` counts the moves made so far; it and `own_move` travel in the current GDL-II dialect alone.
    """

    match_id: str
    told: tuple[Term, ...] | None = None
    turn: int | None = None
    own_move: Term | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """The match has ended; the fields are those of `Play`."""

    match_id: str
    told: tuple[Term, ...] | None = None
    turn: int | None = None
    own_move: Term | None = None


@dataclass(frozen=True, slots=True)
class Abort:
    """The match is given up."""

    match_id: str


Message: TypeAlias = Info | Ping | Preview | Start | Play | Stop | Abort


def to_text(message: Message, dialect: Dialect = Dialect.GDL1) -> str:
    """Return *message* as it goes over the wire: one line of KIF.

    Raises:
        UnsendableMessageError: the match id is no single name, or the GDL-II dialect lacks its turn.

    Example:
        >>> to_text(Play("m.1", None, 0), Dialect.GDL2)
        '(PLAY m.1 0 NIL NIL)'
    """
    match message:
        case Info() | Ping():
            return f"({type(message).__name__.upper()})"
        case Preview(rules, clock_s):
            return f"(PREVIEW ({one_line(rules)}) {clock_s})"
        case Start(match_id, role, rules, start_s, play_s):
            return f"(START {_checked(match_id)} {role} ({one_line(rules)}) {start_s} {play_s})"
        case Abort(match_id):
            return f"(ABORT {_checked(match_id)})"
    return f"({type(message).__name__.upper()} {_checked(message.match_id)} {_told(message, dialect)})"


def _checked(match_id: str) -> str:
    if not _ID.fullmatch(match_id):
        raise UnsendableMessageError(
            f"the match id {match_id!r} is no single name: it may hold no blank, parenthesis or semicolon"
        )
    return match_id


def _told(message: Play | Stop, dialect: Dialect) -> str:
    told = "NIL" if message.told is None else f"({' '.join(map(str, message.told))})"
    if dialect is not Dialect.GDL2:
        return told
    if message.turn is None:
        raise UnsendableMessageError(f"the dialect {dialect} needs the turn of {type(message).__name__.upper()}")
    own_move = "NIL" if message.own_move is None else str(message.own_move)
    return f"{message.turn} {own_move} {told}"


def read_message(text: str) -> Message:
    """Return the message that *text* begins with; keywords in any case, ids and names kept as they are.

    The number of elements tells the dialect: `turn` is None but in the current GDL-II one. The rules inside START
    and PREVIEW are not read here.

    Raises:
        MessageError: it is no message, whatever else it may be.

    Example:
        >>> read_message("(play m.1 ((MARK 1 1) noop))").told
        (<Compound (MARK 1 1)>, Constant('noop'))
    """
    form = first_element(text)
    parts = elements(form)
    parts = (form,) if parts is None else parts
    keyword = parts[0].upper() if parts else ""
    if keyword not in _READERS:
        known = ", ".join(_READERS)
        raise MessageError(f"no message of this protocol (it begins with none of {known})", form)
    return _READERS[keyword](form, parts)


def _read_info(_form: str, _parts: tuple[str, ...]) -> Message:
    return Info()


def _read_ping(_form: str, _parts: tuple[str, ...]) -> Message:
    return Ping()


def _read_preview(form: str, parts: tuple[str, ...]) -> Message:
    _at_least(3, form, parts)
    return Preview(_rules(parts[1]), _seconds(parts[2]))


def _read_start(form: str, parts: tuple[str, ...]) -> Message:
    _at_least(6, form, parts)
    role = term_of_text(parts[2])
    if not isinstance(role, Constant):
        raise MessageError("the role is no name", parts[2])
    return Start(_match_id(parts), role, _rules(parts[3]), _seconds(parts[4]), _seconds(parts[5]))


def _read_play(form: str, parts: tuple[str, ...]) -> Message:
    return Play(_match_id(parts), *_read_told(form, parts))


def _read_stop(form: str, parts: tuple[str, ...]) -> Message:
    _at_least(2, form, parts)
    if len(parts) == 2:
        return Stop(_match_id(parts))
    return Stop(_match_id(parts), *_read_told(form, parts))


def _read_abort(form: str, parts: tuple[str, ...]) -> Message:
    _at_least(2, form, parts)
    return Abort(_match_id(parts))


_Reader: TypeAlias = Callable[[str, tuple[str, ...]], Message]
_READERS: Final[Mapping[str, _Reader]] = {
    "INFO": _read_info,
    "PING": _read_ping,
    "PREVIEW": _read_preview,
    "START": _read_start,
    "PLAY": _read_play,
    "STOP": _read_stop,
    "ABORT": _read_abort,
}


def _read_told(form: str, parts: tuple[str, ...]) -> tuple[tuple[Term, ...] | None, int | None, Term | None]:
    if len(parts) == 3:
        return terms_of(parts[2]), None, None
    if len(parts) != 5:
        raise MessageError(f"{parts[0].upper()} has 3 elements, or 5 in GDL-II, not {len(parts)}", form)
    has_no_move = parts[3].lower() == "nil" or elements(parts[3]) == ()
    return terms_of(parts[4]), _seconds(parts[2]), None if has_no_move else term_of_text(parts[3])


def _at_least(n: int, form: str, parts: tuple[str, ...]) -> None:
    if len(parts) < n:
        raise MessageError(f"{parts[0].upper()} has {n} elements, not {len(parts)}", form)


def _match_id(parts: tuple[str, ...]) -> str:
    if len(parts) < 2 or not _ID.fullmatch(parts[1]):
        raise MessageError("the match id is no single name", " ".join(parts)[:200])
    return parts[1]


def _rules(text: str) -> str:
    if not text.startswith("("):
        raise MessageError("the rules are no list of forms", text)
    return text[1:-1].strip()


def _seconds(text: str) -> int:
    found = _SECONDS.fullmatch(text)
    if found is None:
        raise MessageError(f"no whole number from 0 to {MAX_CLOCK_S:,}", text)
    return int(found[1])
