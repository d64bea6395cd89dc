"""Matches as lists show them: who plays what, how it stands, and a small board where everybody may see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from aiohttp import web
from cachetools import LRUCache

from gdl.errors import GdlError
from server.spectating.listing import is_veiled
from server.storage.matches import MatchStore
from server.storage.rows import QUEUED, MatchRow, SeatRow
from server.storage.titles import title_of
from server.web.boards import Picture, board, picture_of, recorded_board
from server.web.match_view import public_events, view_of
from server.web.rule_books import FirstPositions, Shelf, rule_book

CHANCE: Final = "chance"
"""The kind of a seat that nobody plays: `random`, in games of chance."""
_N_BOARDS: Final = 500


@dataclass(frozen=True, slots=True)
class SeatLine:
    """Who plays a role, which way leads to the player (its `kind`), and the goal that this came to."""

    role: str
    player: str
    kind: str
    goal: int | None
    is_best: bool


@dataclass(frozen=True, slots=True)
class MatchCard:
    """A match in a list. While names are scrambled, its title does not tell the game."""

    row: MatchRow
    title: str
    is_scrambled: bool
    seats: tuple[SeatLine, ...]
    picture: Picture | None = None

    @property
    def played(self) -> tuple[SeatLine, ...]:
        """The seats that somebody sits in."""
        return tuple(seat for seat in self.seats if seat.kind != CHANCE)


def seat_lines(row: MatchRow, seats: Sequence[SeatRow], *, has_roles: bool = True) -> tuple[SeatLine, ...]:
    """Return who plays, in the order of the roles; where the roles are not to be known, they have numbers."""
    best = _best_goal(seats)
    return tuple(
        SeatLine(
            role=seat.role if has_roles else f"role {number}",
            player=seat.player,
            kind=seat.kind,
            goal=seat.goal if row.goals is not None else None,
            is_best=best is not None and seat.goal == best and seat.kind != CHANCE,
        )
        for number, seat in enumerate(seats, 1)
    )


def _best_goal(seats: Sequence[SeatRow]) -> int | None:
    """Return the best goal where somebody did better than somebody else; chance plays no part."""
    goals = [seat.goal for seat in seats if seat.goal is not None and seat.kind != CHANCE]
    return max(goals) if goals and min(goals) < max(goals) else None


class Cards:
    """Makes cards of matches, and keeps the boards on them for as long as nothing was moved."""

    def __init__(self, matches: MatchStore, shelf: Shelf, first_positions: FirstPositions) -> None:
        self._matches, self._shelf, self._first = matches, shelf, first_positions
        self._boards: LRUCache[tuple[str, int, str], Picture | None] = LRUCache(_N_BOARDS)

    async def of(self, rows: Sequence[MatchRow], *, with_boards: bool = False) -> list[MatchCard]:
        """Return the cards of *rows*."""
        seats = await self._matches.seats([row.id for row in rows]) if rows else {}
        return [await self._card(row, seats[row.id], with_board=with_boards) for row in rows]

    async def _card(self, row: MatchRow, seats: Sequence[SeatRow], *, with_board: bool) -> MatchCard:
        hides = is_veiled(row)
        return MatchCard(
            row,
            "Scrambled game" if hides else await self.title(row),
            hides,
            seat_lines(row, seats, has_roles=not hides),
            await self._board(row) if with_board and not row.is_secret else None,
        )

    async def title(self, row: MatchRow) -> str:
        """Return what the game of a match is called."""
        version = await self._shelf.version(row.sha256)
        return row.game if version is None else title_of(version)

    async def _board(self, row: MatchRow) -> Picture | None:
        key = (row.id, row.n_steps, row.status)
        if key not in self._boards:
            self._boards[key] = await self._drawn(row)
        return self._boards[key]

    async def _drawn(self, row: MatchRow) -> Picture | None:
        version = await self._shelf.version(row.sha256)
        if version is None:
            return None
        view = view_of(public_events(await self._matches.entries(row.id), has_ended=row.has_ended))
        book, title = rule_book(version), f"{title_of(version)}, step {view.n_steps}"
        try:
            if view.states and view.states[-1].text is not None:
                return picture_of(recorded_board(book, view.states[-1].text), title)
            facts = await self._first.facts(version) if row.status == QUEUED else None
            return None if facts is None else picture_of(board(book, facts), title)
        except GdlError:
            return None


CARDS: Final = web.AppKey("cards", Cards)
