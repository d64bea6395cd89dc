"""The seats of a match: which roles there are to play, which player has each, with its name, number and seed."""

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from random import Random
from typing import Final, Protocol

from gdl.errors import UnknownNameError
from gdl.game import Outline, Role, played_roles
from server.errors import TooManyRolesError
from server.links import http_player, queued_player
from server.links.player_spec import PlayerSpec, is_command
from server.match.link import PlayerLink
from server.match.profiles import Profile
from server.match.setup import Seat
from server.storage.rows import SeatKind

DEFAULT_PLAYER: Final = "random"
"""The player of a role for which none was named."""


class PlayerReference(Protocol):
    """A player as it was named for a role, wherever it is."""

    @property
    def text(self) -> str:
        """How the player was named."""

    @property
    def name(self) -> str:
        """What the player is called in the record."""

    @property
    def kind(self) -> SeatKind:
        """Which way leads to the player."""

    def seat(self, role: Role, profile: Profile) -> Seat:
        """Return the player's seat at *role*, spoken to as *profile* and the player's own ways say."""

    async def open(self, role: Role) -> PlayerLink:
        """Return the way to the player, which is started if it is one of ours.

        Raises:
            PlayerStartError: one of ours did not come up.
        """


def seated(game: Outline, named: Mapping[str, PlayerReference]) -> dict[Role, PlayerReference]:
    """Return the player of each role of *game* but chance; roles without one in *named* get the player `random`.

    Raises:
        UnknownNameError: as `check_roles`.
    """
    check_roles(game, named)
    left_out = PlayerSpec(DEFAULT_PLAYER, is_own=True)
    return {role: named.get(str(role), left_out) for role in played_roles(game)}


def number_seats(links: Iterable[PlayerLink]) -> None:
    """Give the seats of each player that may have several their numbers; *links* are those of a match, in role order.

    Another process of the game manager gives them the same numbers, so that the ids of requests stay.
    """
    n_seats = Counter[object]()
    for link in links:
        match link:
            case queued_player.QueueLink(queue=player) | http_player.HttpPlayer(url=player):
                n_seats[player] += 1
                link.seat = n_seats[player]


def seeded(players: Mapping[Role, PlayerReference], seed: int) -> dict[Role, PlayerReference]:
    """Return *players*, ours among them with a seed for each seat, which comes of *seed* and is not that of chance."""
    return {
        role: replace(player, seed=Random(f"{seed} {role}").getrandbits(32))
        if isinstance(player, PlayerSpec) and player.is_own
        else player
        for role, player in players.items()
    }


def with_distinct_names(named: Mapping[str, PlayerSpec]) -> dict[str, PlayerSpec]:
    """Return the players *named* by role; different commands that would have one name are called by all their words.

    A number would not do: in the next match the other one may come first, and ratings would mix them up.
    """
    texts: dict[str, set[str]] = {}
    for spec in named.values():
        texts.setdefault(spec.name, set()).add(spec.text)
    return {
        role: replace(spec, called=spec.text) if is_command(spec.text) and len(texts[spec.name]) > 1 else spec
        for role, spec in named.items()
    }


def check_n_roles(game: Outline, limit: int) -> None:
    """Check that *game* has no more roles than *limit*, `random` included.

    Raises:
        TooManyRolesError: it has more.
    """
    if len(game.roles) > limit:
        raise TooManyRolesError(len(game.roles), limit)


def check_roles(game: Outline, named: Iterable[str]) -> None:
    """Check that each of the roles *named* is one that a player can have.

    Raises:
        UnknownNameError: the game has no such role, or it is chance's.
    """
    roles = [str(role) for role in played_roles(game)]
    for name in named:
        if name not in roles:
            raise UnknownNameError("role to play", name, difflib.get_close_matches(name, roles) or roles)
