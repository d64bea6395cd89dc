"""What players think, from their processes over HTTP to the record, and to those who watch where the host shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from gdl.wire.insights import insight_json
from players.kit.http_transport import serving
from players.player import MakePlayer
from server.hosting.settings import GameManagerSettings
from server.records.entries import Entry, StateEntry
from server.records.record import record_of
from server.spectating.public_journal import public_events
from server.spectating.viewers import secrecy_of
from server.storage.database import Database
from server.storage.rows import MatchRow, MatchStatus
from tests.kit.players import odd_players
from tests.kit.players.peers import settings
from tests.kit.server.hosting.managing import YES, managing, order, until
from tests.kit.server.peers import listening
from tests.kit.server.plays import TWO_STEPS

TOLD = insight_json(odd_players.THOUGHT) | {"line": ["( mark 1 1 )", "( mark 2 2 )"]}
LIVE = GameManagerSettings(live_insight=True)
PERCEIVED = f"{TWO_STEPS} (<= (sees ?r (said ?w)) (does ?r (say ?w)))"


async def played(
    database: Database, make_player: MakePlayer, host: GameManagerSettings, **words: Any
) -> tuple[MatchRow, Sequence[Entry]]:
    """Return a match that was played to its end, *make_player* against one that tells nothing, and its journal."""
    async with serving(make_player, settings()) as left, listening(YES) as right, managing(database, host) as manager:
        ordered = await manager.order(order(left, right, **words))
        row = await until(manager, ordered.row.id, "completed")
        return row, await manager.journals.entries(row.id)


def shown(row: MatchRow, entries: Sequence[Entry]) -> tuple[Any, Any]:
    """Return what the public record and the public events tell of the thoughts in a match of *row*."""
    secrecy = secrecy_of(row)
    told = [event.content.data().get("insights") for event in public_events(entries, secrecy)]
    return record_of(entries).public_view(secrecy).get("x-insights"), [found for found in told if found is not None]


@pytest.mark.sampled(2)
async def test_what_a_player_thinks_is_in_the_record_and_shown_after_the_end(database: Database) -> None:
    row, entries = await played(database, odd_players.Telling, GameManagerSettings())
    assert record_of(entries).as_json()["x-insights"] == [[TOLD, None]] * 2
    assert shown(row, entries) == ([[TOLD, None]] * 2, [[TOLD, None]] * 2)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("host", "words", "is_shown"),
    [
        (GameManagerSettings(), {}, False),
        (LIVE, {}, True),
        (LIVE, {"scramble": True}, False),
        (LIVE, {"rules": PERCEIVED}, False),
    ],
)
async def test_before_the_end_it_is_shown_where_the_host_wants_it_and_nothing_is_hidden(
    database: Database, host: GameManagerSettings, words: dict[str, Any], is_shown: bool
) -> None:
    row, entries = await played(database, odd_players.Telling, host, **words)
    second = next(n for n, entry in enumerate(entries) if isinstance(entry, StateEntry) and entry.step == 1)
    record, events = shown(replace(row, status=MatchStatus.RUNNING), entries[: second + 1])
    assert (record is not None, events != []) == (is_shown, is_shown)


@pytest.mark.sampled(2)
async def test_a_match_of_players_that_tell_nothing_has_no_key_for_it(database: Database) -> None:
    row, entries = await played(database, odd_players.First, LIVE)
    assert shown(row, entries) == (None, [])
