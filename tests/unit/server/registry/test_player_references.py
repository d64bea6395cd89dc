"""The players that only a server knows, at their seats."""

from __future__ import annotations

import pytest

from server.match.link import PlayerRequest, ReplyBuffer
from server.match.profiles import Profile
from server.match.setup import Seat
from server.registry.player_references import UnresolvedPlayer
from server.storage.rows import SeatKind
from tests.kit.server.plays import LEFT

GRACE = Profile(grace_s=3)


async def test_a_player_that_is_not_known_any_more_has_a_seat_and_no_answers() -> None:
    player = UnresolvedPlayer("deep")
    link = await player.open(LEFT)
    with pytest.raises(OSError, match=r"^the player is not known any more$"):
        await link.deliver(PlayerRequest("(PLAY m NIL)", "m"), ReplyBuffer())
    assert (player.name, player.kind, player.seat(LEFT, GRACE)) == ("deep", SeatKind.ABSENT, Seat(LEFT, "deep", GRACE))
