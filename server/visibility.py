"""Who may see what of a match, and when: roles of viewers, and one table that everything asks that shows a match.

A row of the table is something that a match has, a column is who asks, and a cell says until when it is withheld.
What is withheld depends on the kind of the match: in one of *imperfect information* (GDL-II) the roles do not all know
the state, in a *scrambled* one the players do not know the game. Between people both are as in any other match, but a
person in a seat sees the game's own names. `server.spectating.events` delays what spectators see besides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Final

from gdl.errors import UnknownNameError

if TYPE_CHECKING:
    from server.records.entries import StartedEntry
    from server.storage.rows import MatchRow, PlayerRow, SeatRow


class Role(IntEnum):
    """What a principal may do, the least first.

    Attributes:
        SPECTATOR: watch matches, and read games and records.
        PLAYER: register players of one's own, dial in with them, and take a seat.
        HOST: order and abort matches, and upload games.
        ADMIN: issue and revoke tokens.
    """

    SPECTATOR = 1
    PLAYER = 2
    HOST = 3
    ADMIN = 4

    @property
    def word(self) -> str:
        """The role as it is written in options, files and JSON."""
        return self.name.lower()


ROLE_WORDS: Final = tuple(role.word for role in Role)


def role_named(word: str) -> Role:
    """Return the role that is written *word*.

    Raises:
        UnknownNameError: none is.
    """
    if word not in ROLE_WORDS:
        raise UnknownNameError("role", word, ROLE_WORDS)
    return Role[word.upper()]


LOCAL_NAME: Final = "local"
ANONYMOUS_NAME: Final = "anonymous"
RESERVED_NAMES: Final = frozenset({LOCAL_NAME, ANONYMOUS_NAME})
"""What those are called who need no token; no token is issued to these names."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: a name, a role, and the public id of the token that says so, None where none was needed."""

    name: str
    role: Role
    token_id: str | None = None

    @property
    def is_known(self) -> bool:
        """Whether something can belong to this name: not to that of all who pass by."""
        return self.token_id is not None or self.name != ANONYMOUS_NAME

    def may(self, role: Role | None) -> bool:
        """Return whether this is enough where *role* is asked for; None asks for nothing."""
        return role is None or self.role >= role


class Viewer(StrEnum):
    """Who asks about a match, or about one seat of it.

    Attributes:
        STRANGER: without a token, where not everybody may watch.
        ANONYMOUS: without a token, where everybody may watch.
        SPECTATOR: with any token, or on this machine where none is needed.
        OWNER: who registered the player in the seat, before the match was ordered.
        PERSON: who plays the seat by hand, known by the seat's secret.
        ORDERER: who ordered the match.
        ADMIN: who administers the server.
    """

    STRANGER = "stranger"
    ANONYMOUS = "anonymous"
    SPECTATOR = "spectator"
    OWNER = "owner"
    PERSON = "person"
    ORDERER = "orderer"
    ADMIN = "admin"


class Aspect(StrEnum):
    """What a match has to be seen.

    Attributes:
        COURSE: that it exists, its status and clocks, who plays, who thinks and how long, kinds of errors, results.
        PEOPLE: the names of the people who play by hand.
        GAME: which game it is: name, rules, and the names of the roles.
        PLAY: states, joint moves, where they came from, and the terms of illegal moves.
        VIEW: what the role of the seat did and perceived, in the game's own names.
        WIRE: what the player in the seat was sent and answered, in its own names where they are scrambled.
        INSIGHT: what the players say that they think: values, depths, expected lines.
        SEAT: the seat of a person: what is asked there, what its role may know, and the right to answer.
        SECRETS: seeds, the scrambling, everybody's percepts and messages: what the whole record has.
    """

    COURSE = "course"
    PEOPLE = "people"
    GAME = "game"
    PLAY = "play"
    VIEW = "view"
    WIRE = "wire"
    INSIGHT = "insight"
    SEAT = "seat"
    SECRETS = "secrets"


class Withheld(StrEnum):
    """When something is withheld."""

    NEVER = "never"
    WHILE_SCRAMBLED = "before the end, where names are scrambled"
    WHILE_IMPERFECT = "before the end, where information is imperfect"
    WHILE_HIDDEN = "before the end, where names are scrambled or information is imperfect"
    UNLESS_LIVE = "before the end, unless the host shows it and nothing is hidden"
    BEFORE_END = "before the end"
    ALWAYS = "always"


_NO, _NAMES, _INFORMATION, _BOTH, _LIVE, _END, _EVER = Withheld
_VIEWERS: Final = (
    Viewer.STRANGER, Viewer.ANONYMOUS, Viewer.SPECTATOR, Viewer.OWNER, Viewer.PERSON, Viewer.ORDERER, Viewer.ADMIN,
)  # fmt: skip
_ROWS: Final[dict[Aspect, tuple[Withheld, ...]]] = {
    Aspect.COURSE:  (_EVER, _NO,    _NO,    _NO,    _NO,          _NO,    _NO),
    Aspect.PEOPLE:  (_EVER, _EVER,  _NO,    _NO,    _NO,          _NO,    _NO),
    Aspect.GAME:    (_EVER, _NAMES, _NAMES, _NAMES, _NO,          _NAMES, _NAMES),
    Aspect.PLAY:    (_EVER, _BOTH,  _BOTH,  _BOTH,  _INFORMATION, _BOTH,  _BOTH),
    Aspect.VIEW:    (_EVER, _BOTH,  _BOTH,  _NAMES, _NO,          _BOTH,  _BOTH),
    Aspect.WIRE:    (_EVER, _END,   _END,   _NO,    _END,         _END,   _END),
    Aspect.INSIGHT: (_EVER, _LIVE,  _LIVE,  _LIVE,  _LIVE,        _LIVE,  _LIVE),
    Aspect.SEAT:    (_EVER, _EVER,  _EVER,  _EVER,  _NO,          _NO,    _NO),
    Aspect.SECRETS: (_EVER, _END,   _END,   _END,   _END,         _END,   _END),
}  # fmt: skip
TABLE: Final[Mapping[Aspect, Mapping[Viewer, Withheld]]] = {
    aspect: dict(zip(_VIEWERS, cells, strict=True)) for aspect, cells in _ROWS.items()
}
"""When each aspect of a match is withheld from each viewer."""


@dataclass(frozen=True, slots=True)
class Secrecy:
    """The kind of a match, and whether it is over: what a cell of the table depends on.

    Attributes:
        is_imperfect: whether some role may not know what is asked for.
        is_scrambled: whether some player is not to know the game.
        shows_insight: whether the host shows what players think while they play, where nothing is hidden.
    """

    is_imperfect: bool
    is_scrambled: bool
    has_ended: bool
    shows_insight: bool = False

    @property
    def is_hidden(self) -> bool:
        """Whether states and moves are withheld from those who watch."""
        return not may_see(Aspect.PLAY, Viewer.SPECTATOR, self)

    @property
    def hides_game(self) -> bool:
        """Whether those who watch are not to know the game."""
        return not may_see(Aspect.GAME, Viewer.SPECTATOR, self)

    @property
    def hides_insight(self) -> bool:
        """Whether what players think is withheld from those who watch."""
        return not may_see(Aspect.INSIGHT, Viewer.SPECTATOR, self)

    def where_known(self) -> Secrecy:
        """Return the secrecy of what every role knows."""
        return replace(self, is_imperfect=False)


def may_see(aspect: Aspect, viewer: Viewer, secrecy: Secrecy) -> bool:
    """Return whether *viewer* may see *aspect* of a match of that *secrecy*."""
    is_live = not secrecy.has_ended
    match TABLE[aspect][viewer]:
        case Withheld.NEVER:
            return True
        case Withheld.WHILE_SCRAMBLED:
            return not (is_live and secrecy.is_scrambled)
        case Withheld.WHILE_IMPERFECT:
            return not (is_live and secrecy.is_imperfect)
        case Withheld.WHILE_HIDDEN:
            return not (is_live and (secrecy.is_scrambled or secrecy.is_imperfect))
        case Withheld.UNLESS_LIVE:
            is_hidden = secrecy.is_scrambled or secrecy.is_imperfect
            return not is_live or (secrecy.shows_insight and not is_hidden)
        case Withheld.BEFORE_END:
            return not is_live
        case Withheld.ALWAYS:
            return False


def secrecy_of(match: MatchRow, *, is_gdl2: bool | None = None) -> Secrecy:
    """Return the secrecy of *match* as it was ordered; *is_gdl2* None: every hidden match counts as imperfect."""
    text = match.order["text"]
    is_ordered = bool(text.get("scramble")) or any(seat.get("scramble") for seat in text["players"].values())
    is_imperfect, shows_insight = (
        match.is_hidden if is_gdl2 is None else is_gdl2,
        match.order.get("liveInsight") is True,
    )
    return Secrecy(is_imperfect, match.is_hidden and is_ordered, match.has_ended, shows_insight)


def secrecy_of_journal(started: StartedEntry, *, has_ended: bool) -> Secrecy:
    """Return the secrecy of the match that a journal's entry *started* begins, where there is no row of it."""
    return Secrecy(started.is_gdl2, any(seat.is_scrambled for seat in started.seats), has_ended)


def owns(who: Principal | None, owner: str) -> bool:
    """Return whether *who* is the *owner* of something: by the name on a token."""
    return who is not None and who.is_known and who.name == owner


def may_command(who: Principal, owner: str) -> bool:
    """Return whether what belongs to *owner* is *who*'s to change."""
    return who.may(Role.ADMIN) or owns(who, owner)


def viewer_of(who: Principal | None, match: MatchRow, *, is_person: bool = False) -> Viewer:
    """Return as whom *who* asks about *match*; *is_person*: with the secret of the seat in question."""
    if is_person:
        return Viewer.PERSON
    if who is None:
        return Viewer.STRANGER
    if not who.is_known:
        return Viewer.ANONYMOUS
    if who.may(Role.ADMIN):
        return Viewer.ADMIN
    return Viewer.ORDERER if who.may(Role.PLAYER) and owns(who, match.ordered_by) else Viewer.SPECTATOR


def people_of(match: MatchRow, who: Principal | None, *, is_person: bool = False) -> Mapping[str, str]:
    """Return the names of the people who play *match*, by role, as far as they are known and *who* may see them."""
    viewer = viewer_of(who, match, is_person=is_person)
    found: Mapping[str, str] = match.order.get("people", {})
    return found if may_see(Aspect.PEOPLE, viewer, secrecy_of(match)) else {}


def has_in_seat(who: Principal | None, player: PlayerRow | None, seat: SeatRow, match: MatchRow) -> bool:
    """Return whether *player* is the one in *seat* and *who* had registered it before *match* was ordered."""
    is_it = player is not None and player.kind == seat.kind and player.created_ms <= match.created_ms
    return player is not None and is_it and owns(who, player.owner)
