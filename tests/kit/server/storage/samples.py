"""Rows and journals for the tests of the database."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from server.match.exchange import Message, MoveOrigin
from server.records.entries import (
    AnsweredEntry,
    ClosedEntry,
    CompletedEntry,
    Entry,
    JournalSeat,
    StartedEntry,
    StateEntry,
    StepEntry,
)
from server.storage.database import Database
from server.storage.games import GameStore
from server.storage.matches import MatchStore
from server.storage.queue import MatchQueue
from server.storage.rows import GameVersion, MatchRow, SeatKind, SeatRow

RULES = "(role x)\n(role o)\n"
VERSION = GameVersion("tiny", "5ha", RULES, ("x", "o"), is_gdl2=False, created_ms=1)
ORDER = {"text": {"game": "tiny", "players": {}, "startClock": 1, "playClock": 1}}


def match(match_id: str, created_ms: int = 10, **changes: Any) -> MatchRow:
    """Return a match that waits."""
    told = {"game": "tiny", "sha256": "5ha", "order": ORDER} | changes
    return MatchRow(**told, id=match_id, created_ms=created_ms)


def seats(match_id: str, *players: str) -> list[SeatRow]:
    """Return the seats of *players*, the first of whom plays x."""
    return [
        SeatRow(match_id, role, place, player, SeatKind.HTTP)
        for place, (role, player) in enumerate(zip("xo", players, strict=False))
    ]


async def keep(store: MatchStore, row: MatchRow, seat_rows: Sequence[SeatRow]) -> None:
    """Keep a match and its seats, however many wait."""
    assert await store.add_all([(row, seat_rows)], sys.maxsize, must_be_current=False)


async def add(store: MatchStore, row: MatchRow, *players: str) -> None:
    """Keep a match of *players*."""
    await keep(store, row, seats(row.id, *(players or ("ann", "bob"))))


async def begun(database: Database, *match_ids: str, holder: str = "here") -> MatchStore:
    """Return the store, with the game and matches that *holder* plays."""
    store = MatchStore(database)
    await GameStore(database).put(VERSION)
    for match_id in match_ids:
        await add(store, match(match_id))
        await MatchQueue(database).claim([match_id], holder, 1_000)
    return store


def journal(match_id: str = "m") -> list[Entry]:
    """Return a journal of a match of one step in which o answers too late."""
    players, origins = (JournalSeat("ann", False, False), JournalSeat("bob", False, False)), (MoveOrigin.PLAYER,) * 2
    return [
        StartedEntry(
            100, match_id, "token", "tiny", "", None, RULES, "5ha", False, ("x", "o"), players, 1, 1, None, 7, 8, {},
            "random", {},
        ),
        StateEntry(101, 0, "( )", None),
        StepEntry(102, 0, None, ("", ""), ("", ""), (1, 2), ()),
        AnsweredEntry(110, 0, "x", Message.PLAY, "\ud800\0é", 9, "", "", "a"),
        StepEntry(120, 0, ("a", "b"), ("", "TO"), ("", "late"), (9, 20), origins),
        StateEntry(121, 1, "( over )", None),
        CompletedEntry(122, 1, (100, 0)),
        ClosedEntry(130),
    ]  # fmt: skip
