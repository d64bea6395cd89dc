"""Where a player is, as people write it, and the way there."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from server.errors import PlayerSpecError
from server.links.child_player import ChildPlayer
from server.links.http_player import HttpPlayer
from server.links.targets import Targets
from server.match.link import PlayerLink
from server.match.setup import Seat

COMMAND: Final = "cmd:"
COMMAND_WITH_LEGAL_MOVES: Final = "cmd+legal:"


def is_command(address: str) -> bool:
    """Return whether *address* starts a program on this machine, which nobody may ask for over a network."""
    return address.startswith((COMMAND, COMMAND_WITH_LEGAL_MOVES))


def open_link(address: str, seat: Seat, targets: Targets | None = None) -> tuple[PlayerLink, Seat]:
    """Return the way to the player at *address*, and its seat with what the address adds to its profile.

    `http://host:port` and `https://...` are HTTP players, `cmd:program argument ...` is a child process,
    and `cmd+legal:...` one that is told its legal moves. HTTP players outside *targets* are not called.

    Raises:
        PlayerSpecError: *address* is nothing of that kind.
    """
    if address.startswith(COMMAND_WITH_LEGAL_MOVES):
        profile = replace(seat.profile, is_told_legal_moves=True)
        return ChildPlayer(address.removeprefix(COMMAND_WITH_LEGAL_MOVES)), replace(seat, profile=profile)
    if address.startswith(COMMAND):
        return ChildPlayer(address.removeprefix(COMMAND)), seat
    if address.startswith(("http://", "https://")):
        return HttpPlayer(address, seat.player_name, targets=targets), seat
    raise PlayerSpecError(address, "expected http://host:port, or cmd: and a program")
