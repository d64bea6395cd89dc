"""Boards of matches that are played, with the clocks of those who are asked: read once for all who watch."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from aiohttp import web
from cachetools import TTLCache

from gdl.errors import GdlError
from server.records.record import understood
from server.spectating.events import broadcast_of, public_events
from server.storage.matches import MatchStore
from server.storage.rows import MatchRow, MatchStatus
from server.visibility import secrecy_of
from server.web.match_lists import Cards, MatchCard, SeatLine
from server.web.match_view import view_of

_AGE_S: Final = 0.5
_N_KEPT: Final = 500
_NO_CLOCKS: Final[Mapping[int, int]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class SeatOnBoard:
    """A seat beside a live board: who plays there, under the name of the tournament, and when its clock ends."""

    seat: SeatLine
    name: str
    clock_ends_ms: int | None


@dataclass(frozen=True, slots=True)
class LiveBoard:
    """A match with its board and, by the number of the seat, the ends of the clocks of those who are asked."""

    card: MatchCard
    clocks: Mapping[int, int]

    def seats(self, players: Sequence[str]) -> tuple[SeatOnBoard, ...]:
        """Return the seats of players, who are called *players* in the tournament."""
        played = [(number, seat) for number, seat in enumerate(self.card.seats) if seat in self.card.played]
        named = zip(played, players, strict=False)
        return tuple(SeatOnBoard(seat, name, self.clocks.get(number)) for (number, seat), name in named)


class LiveBoards:
    """Makes the boards of *matches*, with the *cards* of lists."""

    def __init__(self, matches: MatchStore, cards: Cards) -> None:
        self._matches, self._cards = matches, cards
        self._kept: TTLCache[str, LiveBoard] = TTLCache(_N_KEPT, _AGE_S)
        self._drawing = asyncio.Lock()

    async def of(self, match_ids: Iterable[str]) -> list[LiveBoard]:
        """Return the boards of those of the matches that are there, in their order."""
        async with self._drawing:
            found = [await self._board(match_id) for match_id in match_ids]
        return [board for board in found if board is not None]

    async def _board(self, match_id: str) -> LiveBoard | None:
        kept = self._kept.get(match_id)
        if kept is not None:
            return kept
        row = await self._matches.find(match_id)
        if row is None:
            return None
        (card,) = await self._cards.of([row], with_boards=True)
        made = self._kept[match_id] = LiveBoard(card, await self._clocks(row))
        return made

    async def _clocks(self, row: MatchRow) -> Mapping[int, int]:
        """Return when the clocks end of the seats that are asked now, as far as spectators see that."""
        if row.status != MatchStatus.RUNNING or row.damage:
            return _NO_CLOCKS
        try:
            entries = broadcast_of(row, await self._matches.entries(row.id))
            with understood(row.id):
                view = view_of(public_events(entries, secrecy_of(row)))
        except GdlError:  # the match is shown without clocks
            return _NO_CLOCKS
        return {seat: asked.clock_ends_ms for seat, asked in view.asked.items()}


LIVE_BOARDS: Final = web.AppKey("live_boards", LiveBoards)
