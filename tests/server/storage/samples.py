"""Rows and journals for the tests of the database."""

from __future__ import annotations

from typing import Any

from server.records.entries import Entry
from server.storage.database import Database
from server.storage.games import GameStore
from server.storage.matches import MatchStore
from server.storage.queue import MatchQueue
from server.storage.rows import GameVersion, MatchRow, SeatRow

RULES = "(role x)\n(role o)\n"
VERSION = GameVersion("tiny", "5ha", RULES, ("x", "o"), is_gdl2=False, created_ms=1)
ORDER = {"text": {"game": "tiny", "players": {}, "startClock": 1, "playClock": 1}}


class HandClock:
    """A time of day that a test sets. *Units*: milliseconds."""

    def __init__(self, now_ms: int = 1_000_000) -> None:
        self.now_ms = now_ms

    def __call__(self) -> int:
        return self.now_ms


def match(match_id: str, created_ms: int = 10, **changes: Any) -> MatchRow:
    """Return a match that waits."""
    told = {"game": "tiny", "sha256": "5ha", "order": ORDER} | changes
    return MatchRow(**told, id=match_id, created_ms=created_ms)


def seats(match_id: str, *players: str) -> list[SeatRow]:
    """Return the seats of *players*, the first of whom plays x."""
    return [
        SeatRow(match_id, role, place, player, "http")
        for place, (role, player) in enumerate(zip("xo", players, strict=False))
    ]


async def add(store: MatchStore, row: MatchRow, *players: str) -> None:
    """Keep a match of *players*."""
    await store.add(row, seats(row.id, *(players or ("ann", "bob"))))


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
    return [
        {"event": "started", "at": 100, "matchId": match_id, "rules": RULES, "rulesSha256": "5ha", "roles": ["x", "o"]},
        {"event": "state", "at": 101, "step": 0, "state": "( )", "percepts": None},
        {"event": "step", "at": 102, "step": 0, "moves": None, "errors": ["", ""], "elapsedMs": [1, 2]},
        {"event": "answered", "at": 110, "step": 0, "role": "x", "text": "\ud800\0é", "move": "a"},
        {"event": "step", "at": 120, "step": 0, "moves": ["a", "b"], "errors": ["", "TO"], "elapsedMs": [9, 20]},
        {"event": "state", "at": 121, "step": 1, "state": "( over )", "percepts": None},
        {"event": "completed", "at": 122, "step": 1, "goals": [100, 0]},
        {"event": "closed", "at": 130},
    ]
