"""Who plays which role, from words: `white=mcts`, `black=http://host:port`, `red=cmd:./player`."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Final

from gdl.errors import UnknownNameError
from gdl.game import Game, Role
from players.registry import PLAYERS, find_player
from server.child_player import ChildPlayer
from server.errors import PlayerSpecError
from server.http_player import HttpPlayer, player_url
from server.link import PlayerLink
from server.match import played_roles
from server.own_player import start_own_player
from server.profiles import Profile
from server.setup import Seat

DEFAULT_PLAYER: Final = "random"
"""Who plays a role that nobody was named for."""
_BY_HAND: Final = "human"
_PROGRAM: Final = re.compile(r"cmd(?P<legal>\+legal)?:(?P<command>.*)", re.DOTALL)
_OWN: Final = re.compile(r"(?P<name>[a-z]+)(:[a-z_]+=[0-9]{1,9}(,[a-z_]+=[0-9]{1,9})*)?")


class Kind(Enum):
    """What a specification names: an address, a program, or one of our players."""

    ADDRESS = "address"
    PROGRAM = "program"
    OWN = "own"


@dataclass(frozen=True, slots=True)
class PlayerSpec:
    """A player as somebody named it: `text` without the `cmd:` of programs."""

    kind: Kind
    text: str
    is_told_legal_moves: bool = False

    @property
    def name(self) -> str:
        """What the player is called in the record."""
        if self.kind is Kind.ADDRESS:
            url = player_url(self.text)
            return f"{url.host}:{url.port}"
        if self.kind is Kind.PROGRAM:
            return Path(shlex.split(self.text)[0]).name
        return self.text

    async def open(self) -> PlayerLink:
        """Return the way to the player, which is started if it is one of ours.

        Raises:
            PlayerStartError: one of ours did not come up.
        """
        if self.kind is Kind.ADDRESS:
            return HttpPlayer(self.text, self.name)
        if self.kind is Kind.PROGRAM:
            return ChildPlayer(self.text)
        return await start_own_player(self.text)


def player_spec(text: str) -> PlayerSpec:
    """Return the player that *text* names: `http://host:port`, `cmd:program arguments`, or one of ours.

    Raises:
        PlayerSpecError: an address or a program that cannot be one.
        UnknownNameError: no player of ours; it suggests the nearest names.
        PlayerFileError: a file or module that holds no player.
    """
    if text.startswith(("http://", "https://")):
        HttpPlayer(text)
        return PlayerSpec(Kind.ADDRESS, text)
    program = _PROGRAM.fullmatch(text)
    if program is not None:
        ChildPlayer(program["command"])
        return PlayerSpec(Kind.PROGRAM, program["command"], program["legal"] is not None)
    if text == _BY_HAND:
        raise PlayerSpecError(text, "a person plays with `ggp play`, or `ggp player human` in a terminal of its own")
    find_player(text)
    return PlayerSpec(Kind.OWN, text)


def public_player_spec(text: str) -> PlayerSpec:
    """Return the player that *text*, which came over the network, names: an address, or one of ours by name.

    Raises:
        PlayerSpecError: anything else; programs, files and modules are never started for somebody on the network.
        UnknownNameError: no player of ours.
    """
    if text.startswith(("http://", "https://")):
        return player_spec(text)
    own = _OWN.fullmatch(text)
    if own is None:
        raise PlayerSpecError(text, f"over HTTP a player is an address (http://host:port) or one of {_names()}")
    if own["name"] not in PLAYERS:
        raise UnknownNameError("player", own["name"], difflib.get_close_matches(own["name"], PLAYERS))
    return player_spec(text)


def _names() -> str:
    return ", ".join(name for name in PLAYERS if name != _BY_HAND)


def seated(game: Game, named: Mapping[str, PlayerSpec]) -> dict[Role, PlayerSpec]:
    """Return who plays each role of *game* that somebody plays; the others get the player `random`.

    Raises:
        UnknownNameError: *named* has a role that the game has not, or that nobody plays.
    """
    roles = {str(role): role for role in played_roles(game)}
    for name in named:
        if name not in roles:
            near = difflib.get_close_matches(name, roles) or list(roles)
            raise UnknownNameError("role to play", name, near)
    left_out = PlayerSpec(Kind.OWN, DEFAULT_PLAYER)
    return {role: named.get(name, left_out) for name, role in roles.items()}


def seats(players: Mapping[Role, PlayerSpec], profile: Profile) -> Iterator[Seat]:
    """Yield the seats of *players*, who are all spoken to as *profile* says."""
    for role, spec in players.items():
        yield Seat(role, spec.name, replace(profile, is_told_legal_moves=spec.is_told_legal_moves))
