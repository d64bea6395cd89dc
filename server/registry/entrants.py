"""Registered players and people as those who may be named for a role of a match."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from gdl.game import Role
from server.links.http_player import HttpPlayer
from server.links.human_seat import HumanLink
from server.links.mailbox import Mailboxes
from server.links.mailbox_link import MailboxLink
from server.links.targets import Targets
from server.match.link import PlayerLink
from server.match.profiles import Case, Profile
from server.match.setup import Seat
from server.storage.rows import PlayerRow

HTTP: Final = "http"
DIAL_IN: Final = "dial-in"
HUMAN: Final = "human"
_GRACE_S: Final = Profile().grace_s


@dataclass(frozen=True, slots=True)
class RegisteredPlayer:
    """A registered player: at its address, or behind its mailbox, where it is also told its legal moves."""

    row: PlayerRow
    mailboxes: Mailboxes
    targets: Targets | None = None

    @property
    def text(self) -> str:
        """How the player was named."""
        return self.row.name

    @property
    def name(self) -> str:
        """What the player is called in the record."""
        return self.row.name

    @property
    def kind(self) -> str:
        """Which way leads to the player: `http` or `dial-in`."""
        return self.row.kind

    def seat(self, role: Role, profile: Profile) -> Seat:
        """Return the player's seat at *role*."""
        is_told = profile.is_told_legal_moves or self.row.url is None
        return Seat(role, self.row.name, replace(profile, is_told_legal_moves=is_told))

    async def open(self, role: Role) -> PlayerLink:  # noqa: ARG002 -- a player is the same in every role
        """Return the way to the player."""
        if self.row.url is not None:
            return HttpPlayer(self.row.url, self.row.name, targets=self.targets)
        return MailboxLink(self.mailboxes.mailbox(self.row.name), _GRACE_S)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who plays by hand, in a browser or over the API; in the game's own names."""

    mailboxes: Mailboxes
    text: str = HUMAN
    name: str = HUMAN
    kind: str = HUMAN

    def seat(self, role: Role, profile: Profile) -> Seat:
        """Return the person's seat at *role*."""
        told = replace(profile, is_told_legal_moves=True, is_scrambled=False, case=Case.AS_IS)
        return Seat(role, self.name, told, is_human=True)

    async def open(self, role: Role) -> PlayerLink:
        """Return the way to the person."""
        return HumanLink(self.mailboxes, str(role), _GRACE_S)
