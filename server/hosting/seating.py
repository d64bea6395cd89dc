"""Who plays which role, from words: `white=mcts`, `black=http://host:port`, `red=cmd:./player`."""

from __future__ import annotations

import difflib
import re
import shlex
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from gdl.errors import UnknownNameError
from gdl.game import Outline, Role, played_roles
from gdl.terms import Constant
from players.registry import PLAYERS, find_player
from server.errors import PlayerSpecError
from server.links.address import is_command, open_link
from server.links.http_player import player_url
from server.links.own_player import start_own_player
from server.links.targets import Targets
from server.match.link import NoLink, PlayerLink
from server.match.profiles import Profile
from server.match.setup import Seat

DEFAULT_PLAYER: Final = "random"
"""Who plays a role that nobody was named for."""
_BY_HAND: Final = "human"
OWN_PLAYERS: Final = tuple(name for name in PLAYERS if name != _BY_HAND)
"""Players of ours that a game manager can start."""
_NOBODY: Final = Constant("nobody")
_HOST_AND_PORT: Final = re.compile(r"[\w.-]+:[0-9]{1,5}/?")
_OWN: Final = re.compile(r"(?P<name>[a-z]+)(:[a-z_]+=[0-9]{1,9}(,[a-z_]+=[0-9]{1,9})*)?")


class Entrant(Protocol):
    """Somebody who was named for a role, wherever the player is."""

    @property
    def text(self) -> str:
        """How the player was named."""

    @property
    def name(self) -> str:
        """What the player is called in the record."""

    @property
    def kind(self) -> str:
        """Which way leads to the player: `own`, `http`, `dial-in`, `human`, `command`."""

    def seat(self, role: Role, profile: Profile) -> Seat:
        """Return the player's seat at *role*, spoken to as *profile* and the player's own ways say."""

    async def open(self, role: Role) -> PlayerLink:
        """Return the way to the player, which is started if it is one of ours.

        Raises:
            PlayerStartError: one of ours did not come up.
        """


@dataclass(frozen=True, slots=True)
class PlayerSpec:
    """A player as somebody named it: an address, a program, or one of our players, which must be started.

    `targets` says which addresses may be called; None allows all.
    """

    text: str
    is_own: bool
    targets: Targets | None = None

    @property
    def name(self) -> str:
        """What the player is called in the record."""
        if self.is_own:
            return self.text
        if is_command(self.text):
            return Path(shlex.split(self.text.partition(":")[2])[0]).name
        url = player_url(self.text)
        return f"{url.host}:{url.port}"

    @property
    def kind(self) -> str:
        """Which way leads to the player."""
        return "own" if self.is_own else "command" if is_command(self.text) else "http"

    def seat(self, role: Role, profile: Profile) -> Seat:
        """Return the player's seat at *role*, spoken to as *profile* and the specification say."""
        seat = Seat(role, self.name, profile)
        return seat if self.is_own else open_link(self.text, seat)[1]

    async def open(self, role: Role) -> PlayerLink:
        """Return the way to the player, which is started if it is one of ours.

        Raises:
            PlayerStartError: one of ours did not come up.
        """
        if self.is_own:
            return await start_own_player(self.text)
        return open_link(self.text, Seat(role, self.name), self.targets)[0]


@dataclass(frozen=True, slots=True)
class Absent:
    """A player that was known when the match was ordered, and is not any more; whatever it is asked, nobody answers."""

    text: str
    kind: str = "absent"

    @property
    def name(self) -> str:
        """What the player is called in the record."""
        return self.text

    def seat(self, role: Role, profile: Profile) -> Seat:
        """Return the player's seat at *role*."""
        return Seat(role, self.text, profile)

    async def open(self, role: Role) -> PlayerLink:  # noqa: ARG002 -- an entrant is asked so
        """Return a way that leads nowhere."""
        return NoLink("the player is not known any more")


def player_spec(text: str) -> PlayerSpec:
    """Return the player that *text* names: `http://host:port`, `cmd:program arguments`, or one of ours.

    Raises:
        PlayerSpecError: an address or a program that cannot be one.
        UnknownNameError: no player of ours; it suggests the nearest names.
        PlayerFileError: a file or module that holds no player.
    """
    if is_command(text) or _is_address(text):
        open_link(text, Seat(_NOBODY))
        if is_command(text):
            _check_program(text)
        return PlayerSpec(text, is_own=False)
    if text == _BY_HAND:
        raise PlayerSpecError(text, "a person plays with `ggp play`, or `ggp player human` in a terminal of its own")
    if _HOST_AND_PORT.fullmatch(text):
        raise PlayerSpecError(text, f"an address begins with http://, as in http://{text}")
    find_player(text)
    return PlayerSpec(text, is_own=True)


def _check_program(text: str) -> None:
    program = shlex.split(text.partition(":")[2])[0]
    if shutil.which(program) is None:
        forbidden = f"{program} may not be executed: try chmod +x {program}"
        raise PlayerSpecError(text, forbidden if Path(program).is_file() else f"there is no program {program}")


def _is_address(text: str) -> bool:
    return text.startswith(("http://", "https://"))


def public_player_spec(text: str, targets: Targets | None = None) -> PlayerSpec:
    """Return the player that *text*, which came over the network, names: an address, or one of ours by name.

    *targets* says which addresses may be called, once it comes to that.

    Raises:
        PlayerSpecError: anything else; programs, files and modules are never started for somebody on the network.
        UnknownNameError: no player of ours.
    """
    if _is_address(text):
        return replace(player_spec(text), targets=targets)
    own = _OWN.fullmatch(text)
    if own is None:
        ours = ", ".join(OWN_PLAYERS)
        raise PlayerSpecError(text, f"over HTTP a player is an address (http://host:port) or one of {ours}")
    if own["name"] not in PLAYERS:
        raise UnknownNameError("player", own["name"], difflib.get_close_matches(own["name"], PLAYERS))
    return player_spec(text)


def seated(game: Outline, named: Mapping[str, Entrant]) -> dict[Role, Entrant]:
    """Return who plays each role of *game* that somebody plays; the others get the player `random`.

    Raises:
        UnknownNameError: as `check_roles`.
    """
    check_roles(game, named)
    left_out = PlayerSpec(DEFAULT_PLAYER, is_own=True)
    return {role: named.get(str(role), left_out) for role in played_roles(game)}


def check_roles(game: Outline, named: Iterable[str]) -> None:
    """Check that somebody plays each of the roles *named*.

    Raises:
        UnknownNameError: the game has no such role, or nobody plays it.
    """
    roles = [str(role) for role in played_roles(game)]
    for name in named:
        if name not in roles:
            raise UnknownNameError("role to play", name, difflib.get_close_matches(name, roles) or roles)
