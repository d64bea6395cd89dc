"""Lists of matches, a page at a time, and the cards in them: who plays, and the board as far as it may be seen."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final
from urllib.parse import urlencode

from aiohttp import web
from cachetools import LRUCache

from gdl.errors import GdlError
from server.access.control import PRINCIPAL
from server.app_keys import MANAGER
from server.principal import Principal
from server.records.record import understood
from server.spectating.broadcast import broadcast_of, delay_of
from server.spectating.public_journal import public_events
from server.spectating.public_record import MatchSource, as_broadcast
from server.spectating.viewers import end_reason, orderer_of, people_of, secrecy_of
from server.storage.errors import DamagedRowError
from server.storage.games import title_of
from server.storage.match_queries import MatchFilter
from server.storage.rows import WAITING_STATUSES, GameVersion, MatchRow, MatchStatus, SeatKind, SeatRow
from server.web.boards import Picture, board, picture_of, recorded_board
from server.web.game_versions import FirstPositions, GameVersions, shown_rules
from server.web.match_view import view_of
from server.web.rendering import render

N_ON_PAGE: Final = 40
_MAX_QUEUED: Final = 200
_FILTERS: Final = ("status", "game", "player", "tournament")
NO_PEOPLE: Final[Mapping[str, str]] = MappingProxyType({})
_N_BOARDS: Final = 500
_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SeatLine:
    """Who plays a role, which way leads to the player (its `kind`), and the goal that this came to.

    In the lobby a person `is_missing` who has not come yet.
    """

    role: str
    player: str
    kind: SeatKind
    goal: int | None
    is_best: bool
    is_missing: bool = False
    person: str = ""

    @property
    def called(self) -> str:
        """The name of the player, or of the person, where that is known and may be seen."""
        return self.person or self.player


@dataclass(frozen=True, slots=True)
class MatchCard:
    """A match in a list. While names are scrambled, its title does not tell the game.

    Attributes:
        orderer: who ordered it, as far as the viewer may see names of people.
    """

    row: MatchRow
    title: str
    is_scrambled: bool
    is_hidden: bool
    seats: tuple[SeatLine, ...]
    picture: Picture | None = None
    orderer: str = ""

    @property
    def reason(self) -> str:
        """Why the match was aborted or failed; empty where it was not, or where that is not public."""
        return end_reason(self.row)

    @property
    def played(self) -> tuple[SeatLine, ...]:
        """The seats of players and people, without chance."""
        return tuple(seat for seat in self.seats if seat.kind != SeatKind.CHANCE)


def seat_lines(
    row: MatchRow, seats: Sequence[SeatRow], people: Mapping[str, str] = NO_PEOPLE, *, has_roles: bool = True
) -> tuple[SeatLine, ...]:
    """Return who plays, in the order of the roles; where the roles are not to be known, they have numbers."""
    best = _best_goal(seats)
    return tuple(
        SeatLine(
            role=seat.role if has_roles else f"role {number}",
            player=seat.player,
            kind=seat.kind,
            goal=seat.goal if row.goals is not None else None,
            is_best=best is not None and seat.goal == best and seat.kind != SeatKind.CHANCE,
            is_missing=row.status == MatchStatus.LOBBY and seat.is_missing,
            person=people.get(seat.role, ""),
        )
        for number, seat in enumerate(seats, 1)
    )


def _best_goal(seats: Sequence[SeatRow]) -> int | None:
    """Return the best goal where not all players have the same; chance plays no part."""
    goals = [seat.goal for seat in seats if seat.goal is not None and seat.kind != SeatKind.CHANCE]
    return max(goals) if goals and min(goals) < max(goals) else None


class Cards:
    """Makes cards of matches, and keeps the boards on them for as long as nothing was moved."""

    def __init__(self, source: MatchSource, versions: GameVersions, first_positions: FirstPositions) -> None:
        self._matches, self._journals = source.matches, source.journals
        self._versions, self._first = versions, first_positions
        self._boards: LRUCache[tuple[str, int, str, bool, str], Picture | None] = LRUCache(_N_BOARDS)

    async def of(
        self,
        rows: Sequence[MatchRow],
        who: Principal | None = None,
        *,
        with_boards: bool = False,
        is_person: bool = False,
    ) -> list[MatchCard]:
        """Return the cards of *rows* for *who*; *is_person*: who plays in them by hand."""
        seats = await self._matches.seats([row.id for row in rows]) if rows else {}
        found = []
        for row in await as_broadcast(self._journals, rows):
            people = people_of(row, who, is_person=is_person)
            card = await self._card(row, seats[row.id], people, with_board=with_boards)
            found.append(replace(card, orderer=orderer_of(row, who, is_person=is_person)))
        return found

    async def _card(
        self, row: MatchRow, seats: Sequence[SeatRow], people: Mapping[str, str], *, with_board: bool
    ) -> MatchCard:
        """Return the card of a match, without what is not public."""
        if row.damage:
            return MatchCard(row, f"{row.id} (damaged)", is_scrambled=False, is_hidden=False, seats=())
        secrecy = secrecy_of(row)
        hides = secrecy.hides_game
        return MatchCard(
            row,
            "Scrambled game" if hides else await self.title(row),
            hides,
            secrecy.is_hidden,
            seat_lines(row, seats, people, has_roles=not hides),
            await self._board(row) if with_board and not hides else None,
        )

    async def title(self, row: MatchRow) -> str:
        """Return what the game of a match is called."""
        version = await self._version(row)
        return row.game if version is None else title_of(version)

    async def _version(self, row: MatchRow) -> GameVersion | None:
        try:
            return await self._versions.version(row.game, row.sha256)
        except DamagedRowError:  # the match is listed all the same
            return None

    async def _board(self, row: MatchRow) -> Picture | None:
        version = await self._version(row)
        if version is None:
            return None
        key = (row.id, row.n_steps, row.status, row.is_set_open, version.fingerprint)
        if not row.has_ended and not delay_of(row).is_live:
            return await self._drawn(row, version)
        if key in self._boards:
            return self._boards[key]
        found = await self._drawn(row, version)
        if found is not None or row.n_steps or row.has_ended:  # the first state may still be worked out
            self._boards[key] = found
        return found

    async def _drawn(self, row: MatchRow, version: GameVersion) -> Picture | None:
        """Return the picture of the last public state, or of the first before the match begins; None without one."""
        try:
            entries = await self._journals.entries(row.id)
            with understood(row.id):
                shown, secrecy = broadcast_of(row, entries), secrecy_of(row)
                view = view_of(public_events(shown, secrecy))
            rules, title = await shown_rules(version), f"{title_of(version)}, step {view.n_steps}"
            if view.states and view.states[-1].text is not None:
                return await picture_of(await recorded_board(rules, view.states[-1].text), title)
            is_due = row.status in WAITING_STATUSES and not secrecy.is_hidden
            facts = await self._first.facts(version) if is_due else None
            return None if facts is None else await picture_of(await board(rules, facts), title)
        except GdlError as error:
            _LOG.warning("the board of match %s is not drawn: %s", row.id, error)
            return None


CARDS: Final = web.AppKey("cards", Cards)


async def show_matches(request: web.Request) -> web.Response:
    """Show the matches that the query asks for: of a status, a game, a player, a tournament; `before` pages."""
    wanted = {name: request.query[name] for name in _FILTERS if request.query.get(name)}
    if wanted.get("status") not in tuple(MatchStatus):
        wanted.pop("status", None)
    before = request.query.get("before") or None
    asked = MatchFilter(wanted.get("status"), wanted.get("game"), wanted.get("player"), wanted.get("tournament"))
    rows = await request.app[MANAGER].matches.listed(asked, before=before, limit=N_ON_PAGE + 1)
    return render(
        request,
        "matches.html",
        matches=await request.app[CARDS].of(rows[:N_ON_PAGE], request.get(PRINCIPAL)),
        wanted=wanted,
        older=older(rows, wanted),
        is_first="before" not in request.query,
        tabs=[(word, urlencode(wanted | {"status": word})) for word in MatchStatus],
        all_query=urlencode({name: value for name, value in wanted.items() if name != "status"}),
        statuses=MatchStatus,
    )


def older(rows: list[MatchRow], wanted: dict[str, str]) -> str | None:
    """Return the query of the next page, None where these *rows*, one more than a page has, are the last."""
    return urlencode(wanted | {"before": rows[N_ON_PAGE - 1].id}) if len(rows) > N_ON_PAGE else None


async def show_queue(request: web.Request) -> web.Response:
    """Show the matches that wait, the one whose turn is next first."""
    rows = await request.app[MANAGER].matches.queued(limit=_MAX_QUEUED + 1)
    cards = await request.app[CARDS].of(rows[:_MAX_QUEUED], request.get(PRINCIPAL))
    reasons = request.app[MANAGER].wait_reasons
    return render(request, "queue.html", wait_reasons=reasons, matches=cards, has_more=len(rows) > _MAX_QUEUED)
