"""The players that only a server knows, as seats name them: registered ones, people, and those that are gone."""

from dataclasses import dataclass, replace

from gdl.game import Role
from server.links import addresses, http_player, queued_player, request_queue
from server.links.player_spec import HUMAN
from server.match.link import NoLink, PlayerLink
from server.match.profiles import Case, Profile
from server.match.setup import Seat
from server.storage.rows import PlayerRow, SeatKind


@dataclass(frozen=True, slots=True)
class RegisteredPlayer:
    """A registered player: at its address, or behind its request queue, where it also gets its legal moves."""

    row: PlayerRow
    request_queues: request_queue.RequestQueues
    targets: addresses.AllowedAddresses | None = None

    @property
    def text(self) -> str:
        """How the player was named."""
        return self.row.name

    @property
    def name(self) -> str:
        """What the player is called in the record."""
        return self.row.name

    @property
    def kind(self) -> SeatKind:
        """Which way leads to the player."""
        return self.row.kind

    def seat(self, role: Role, profile: Profile) -> Seat:
        """Return the player's seat at *role*."""
        gets_legal_moves = profile.gets_legal_moves or self.row.url is None
        return Seat(role, self.row.name, replace(profile, gets_legal_moves=gets_legal_moves))

    async def open(self, role: Role) -> PlayerLink:  # noqa: ARG002 -- a player is the same in every role
        """Return the way to the player."""
        if self.row.url is not None:
            return http_player.HttpPlayer(self.row.url, self.row.name, targets=self.targets)
        return queued_player.QueueLink(self.request_queues.of_player(self.row.name))


@dataclass(frozen=True, slots=True)
class Person:
    """A person who plays by hand, in a browser or over the API; in the game's own names."""

    request_queues: request_queue.RequestQueues
    text: str = HUMAN
    name: str = HUMAN
    kind: SeatKind = SeatKind.HUMAN

    def seat(self, role: Role, profile: Profile) -> Seat:
        """Return the person's seat at *role*."""
        changed = replace(profile, gets_legal_moves=True, is_scrambled=False, case=Case.AS_IS)
        return Seat(role, self.name, changed, is_human=True)

    async def open(self, role: Role) -> PlayerLink:
        """Return the way to the person."""
        return queued_player.HumanLink(self.request_queues, str(role))


@dataclass(frozen=True, slots=True)
class UnresolvedPlayer:
    """A player that was known when the match was ordered, and is not any more; its seat has no answers."""

    text: str
    kind: SeatKind = SeatKind.ABSENT

    @property
    def name(self) -> str:
        """What the player is called in the record."""
        return self.text

    def seat(self, role: Role, profile: Profile) -> Seat:
        """Return the player's seat at *role*."""
        return Seat(role, self.text, profile)

    async def open(self, role: Role) -> PlayerLink:  # noqa: ARG002 -- an entrant is asked so
        """Return a link that always fails."""
        return NoLink(queued_player.UNKNOWN)
