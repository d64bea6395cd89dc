"""Who may see what of a match, and when: one table that everything asks that shows a match.

A row of the table is something that a match has, a column is who asks, and a cell says until when it is withheld.
What is withheld depends on the kind of the match: in one of *imperfect information* (GDL-II) the roles do not all know
the state, in a *scrambled* one the players do not know the game. Between people both are as in any other match, but a
person in a seat sees the game's own names. `server.spectating.viewers` says as whom a principal asks and of which kind
a match is; `server.spectating.broadcast` delays what spectators see besides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final


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
        COURSE: that it exists, its status and clocks, who plays, what it waits for, who thinks and how long, kinds of
            errors, results.
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
        is_set_open: whether matches with the same seeds are still to be played: what is withheld before the end is
            withheld until then.
        shows_insight: whether the host shows what players think while they play, where nothing is hidden.
    """

    is_imperfect: bool
    is_scrambled: bool
    has_ended: bool
    shows_insight: bool = False
    is_set_open: bool = False

    @property
    def is_over(self) -> bool:
        """Whether nothing is withheld any more for the sake of who plays."""
        return self.has_ended and not self.is_set_open

    @property
    def opening(self) -> str:
        """When what is withheld is shown, in words."""
        return "when all matches with the same seeds are over" if self.is_set_open else "when the match is over"

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

    def told_reason(self, reason: str, *, has_failed: bool) -> str:
        """Return as much of the *reason* for a match's end as may be known: it names roles, a failure also states."""
        if self.hides_game:
            return ""
        return reason.partition(":")[0] if has_failed and self.is_hidden else reason

    def where_known(self) -> Secrecy:
        """Return the secrecy of what every role knows."""
        return replace(self, is_imperfect=False)


def may_see(aspect: Aspect, viewer: Viewer, secrecy: Secrecy) -> bool:
    """Return whether *viewer* may see *aspect* of a match of that *secrecy*."""
    is_live = not secrecy.is_over
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
