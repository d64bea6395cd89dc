"""The pages of tournaments: their list, one with standings, rounds and live boards, what changes of it."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlencode

from aiohttp import web
from cachetools import LRUCache, TTLCache
from markupsafe import Markup

from gdl.errors import GdlError
from server.access.control import requires
from server.api.problem import refusal
from server.api.streams import EventStream, streamed
from server.app_keys import MANAGER
from server.clock import now_ms
from server.hosting.rounds import next_round_ms
from server.hosting.tournament_changes import entrant_to_withdraw
from server.principal import Role
from server.records.record import understood
from server.refusals import RequestError
from server.spectating.broadcast import broadcast_of
from server.spectating.public_journal import public_events
from server.spectating.public_record import MatchSource
from server.spectating.tournaments import TournamentFeed
from server.spectating.viewers import secrecy_of
from server.storage.games import GameStore
from server.storage.rows import MatchRow, MatchStatus
from server.storage.tournament_rows import TournamentRow
from server.storage.tournaments import TournamentStore
from server.web import match_lists, match_view, tournament_forms, tournament_rules, tournament_view
from server.web.rendering import Confirmation, ask, render, templates
from server.web.template_filters import sentence

_AGE_S: Final = 0.5
_N_BOARDS: Final = 500
_NO_CLOCKS: Final[Mapping[int, int]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class SeatOnBoard:
    """A seat beside a live board: who plays there, under the name of the tournament, and when its clock ends."""

    seat: match_lists.SeatLine
    name: str
    clock_ends_ms: int | None


@dataclass(frozen=True, slots=True)
class LiveBoard:
    """A match with its board and, by the number of the seat, the ends of the clocks of those who are asked."""

    card: match_lists.MatchCard
    clocks: Mapping[int, int]

    def seats(self, players: Sequence[str]) -> tuple[SeatOnBoard, ...]:
        """Return the seats of players, who are called *players* in the tournament."""
        played = [(number, seat) for number, seat in enumerate(self.card.seats) if seat in self.card.played]
        named = zip(played, players, strict=False)
        return tuple(SeatOnBoard(seat, name, self.clocks.get(number)) for (number, seat), name in named)


class LiveBoards:
    """Makes the boards of the matches of *source*, with the *cards* of lists."""

    def __init__(self, source: MatchSource, cards: match_lists.Cards) -> None:
        self._matches, self._journals, self._cards = source.matches, source.journals, cards
        self._kept: TTLCache[str, LiveBoard] = TTLCache(_N_BOARDS, _AGE_S)
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
            entries = broadcast_of(row, await self._journals.entries(row.id))
            with understood(row.id):
                view = match_view.view_of(public_events(entries, secrecy_of(row)))
        except GdlError:  # the match is shown without clocks
            return _NO_CLOCKS
        return {seat: asked.clock_ends_ms for seat, asked in view.asked.items()}


LIVE_BOARDS: Final = web.AppKey("live_boards", LiveBoards)


N_BOARDS: Final = 12
"""How many boards of matches that are played the page of a tournament shows."""
N_ON_WALL: Final = 8
"""How many boards the wall shows before its script has looked how many fit."""
_MOST_ASKED: Final = 24
_MOST_LISTED: Final = 1_000
"""How many scheduled matches the page of a tournament lists, those of the last rounds."""
_N_KEPT: Final = 64


class ShownTournaments:
    """The tournaments of *store* as pages show them, each made once for all who look until *feed* tells a change.

    *games* says what their games are called.
    """

    def __init__(self, store: TournamentStore, games: GameStore, feed: TournamentFeed) -> None:
        self._store, self._games, self.feed = store, games, feed
        self._kept: LRUCache[str, tuple[str, tournament_view.ShownTournament]] = LRUCache(_N_KEPT)
        self._making: dict[str, asyncio.Lock] = {}
        self._tables: LRUCache[tuple[str, str, frozenset[int]], tuple[Markup, Markup]] = LRUCache(_N_KEPT)

    async def of(self, name: str) -> tuple[str, tournament_view.ShownTournament]:
        """Return the shape of the tournament *name*, and what is shown of it.

        Raises:
            RequestError: there is none.
            DamagedRowError: one of its rows is damaged.
        """
        async with self._making.setdefault(name, asyncio.Lock()):
            try:
                return await self._made(name)
            finally:
                self._making.pop(name, None)

    async def _made(self, name: str) -> tuple[str, tournament_view.ShownTournament]:
        live = await self.feed.now(name)
        kept = self._kept.get(name)
        if live is not None and kept is not None and kept[0] == live.shape:
            return kept
        found = None if live is None else await self._store.read(name)
        if live is None or found is None:
            raise RequestError("unknown_tournament", f"there is no tournament {name[:100]!r}", status=404)
        reasons = {one.match_id: one.wait_reason for one in live.live if one.wait_reason is not None}
        titles = await self._games.titles(found.row.terms.games)
        made = await asyncio.to_thread(tournament_view.shown_tournament, found, reasons, titles)
        self._kept[name] = live.shape, made
        return live.shape, made

    def tables(
        self, shape: str, shown: tournament_view.ShownTournament, opened: frozenset[int]
    ) -> tuple[Markup, Markup]:
        """Return the standings and the rounds, with the matches of those *opened*, which all viewers see alike."""
        key = shown.row.name, shape, opened
        if key not in self._tables:
            context = {"shown": shown, "row": shown.row, "listed": _last_rounds(shown), "opened": opened}
            standings, rounds = (
                # What the templates of this program write is escaped there.
                Markup(templates().get_template(name).render(context))  # noqa: S704 -- as said above
                for name in ("tournament_standings.html", "tournament_rounds.html")
            )
            self._tables[key] = standings, rounds
        return self._tables[key]


SHOWN: Final = web.AppKey("shown_tournaments", ShownTournaments)


@dataclass(frozen=True, slots=True)
class TournamentBoard:
    """A live board of a tournament, with the entrants beside it."""

    board: LiveBoard
    seats: tuple[SeatOnBoard, ...]


async def show_tournaments(request: web.Request) -> web.Response:
    """Show tournaments, the latest first; `before` pages."""
    before = request.query.get("before") or None
    manager = request.app[MANAGER]
    rows, after = await manager.tournaments.store.page(before, match_lists.N_ON_PAGE)
    return render(
        request,
        "tournaments.html",
        tournaments=rows,
        titles=await manager.games.titles({game for row in rows for game in row.terms.games}),
        older=after and urlencode({"before": after}),
        is_first=before is None,
    )


async def show_tournament(request: web.Request) -> web.Response:
    """Show a tournament."""
    return render(request, "tournament.html", problem="", **await tournament_context(request))


@requires(Role.PLAYER)
async def command(request: web.Request) -> web.Response:
    """Do with a tournament what the form says, and go to its page; what cannot be done is said there."""
    try:
        await tournament_forms.carry_out(request)
    except GdlError as error:
        status, _ = refusal(error)
        if status >= 500:
            raise
        context = await tournament_context(request)
        return render(request, "tournament.html", status=status, problem=sentence(error), **context)
    raise web.HTTPSeeOther(f"/tournaments/{request.match_info['name']}")


@requires(Role.PLAYER)
async def confirm_withdrawal(request: web.Request) -> web.Response:
    """Ask whether the entrant of the query is to be withdrawn."""
    query, name = request.query, request.match_info["name"]
    _, shown = await request.app[SHOWN].of(name)
    entrant = entrant_to_withdraw(shown.found, query.get("entrant", "")).name
    annul, back = query.get("annul", ""), f"/tournaments/{name}"
    asked = Confirmation(
        f"Withdraw {entrant} from {name}?",
        _consequence(shown.row, is_annulled=annul == "yes"),
        word="Withdraw",
        address=back,
        back=back,
        fields={"do": "withdraw", "entrant": entrant, "reason": query.get("reason", ""), "annul": annul},
    )
    return ask(request, asked)


def _consequence(row: TournamentRow, *, is_annulled: bool) -> str:
    if row.waits_to_start:
        return "It does not take part, unless it enters again before the start."
    lost = "None of its matches counts any more" if is_annulled else "It forfeits its open matches"
    return f"{lost}, and it does not come back."


async def show_parts(request: web.Request) -> web.Response:
    """Show what of a tournament's page changes while it is played, for the page's script."""
    return render(request, "tournament_parts.html", **await tournament_context(request))


async def tournament_context(request: web.Request) -> dict[str, Any]:
    """Return what the templates of a tournament's page need."""
    shape, shown = await request.app[SHOWN].of(request.match_info["name"])
    row, at_ms = shown.row, now_ms()
    games = () if row.hides_games else [(name, shown.titles.get(name, name)) for name in row.terms.games]
    standings, rounds = request.app[SHOWN].tables(shape, shown, _opened(request, shown))
    return {
        "shown": shown,
        "row": row,
        "shape": shape,
        "now_ms": at_ms,
        "games": games,
        "format": row.terms.format.words,
        "rules": list(tournament_rules.rules_in_words(row, [title for _, title in games], at_ms)),
        "boards": await boards_of(request, shown, (each.match_id for each in shown.playing[:N_BOARDS])),
        "standings": standings,
        "rounds": rounds,
        "own_players": await tournament_forms.own_players(request, shown.found),
        "may_enter": row.admits(at_ms),
        "next_round_ms": next_round_ms(shown.found, at_ms),
    }


def _opened(request: web.Request, shown: tournament_view.ShownTournament) -> frozenset[int]:
    """Return the numbers of the rounds whose matches the query wants to see."""
    wanted = set(request.query.getall("open", ()))
    return frozenset(one.number for one in shown.rounds if str(one.number) in wanted)


def _last_rounds(shown: tournament_view.ShownTournament) -> list[tournament_view.ShownRound]:
    """Return the last rounds, the latest first, as many as may be listed."""
    found: list[tournament_view.ShownRound] = []
    n_left = _MOST_LISTED
    for one in reversed(shown.rounds):
        n_left -= len(one.fixtures)
        if n_left < 0 and found:
            break
        found.append(one)
    return found


async def boards_of(
    request: web.Request, shown: tournament_view.ShownTournament, match_ids: Iterable[str]
) -> list[TournamentBoard]:
    """Return the boards of those of the matches that belong to the tournament."""
    own = [match_id for match_id in match_ids if match_id in shown.fixtures]
    found = await request.app[LIVE_BOARDS].of(own)
    return [TournamentBoard(board, board.seats(shown.fixtures[board.card.row.id].players)) for board in found]


async def show_wall(request: web.Request) -> web.Response:
    """Show the live boards alone, for a large screen."""
    shape, shown = await request.app[SHOWN].of(request.match_info["name"])
    boards = await boards_of(request, shown, (each.match_id for each in shown.playing[:N_ON_WALL]))
    at_ms = now_ms()
    return render(
        request,
        "wall.html",
        shown=shown,
        row=shown.row,
        shape=shape,
        now_ms=at_ms,
        boards=boards,
        next_round_ms=next_round_ms(shown.found, at_ms),
    )


async def show_boards(request: web.Request) -> web.Response:
    """Show the boards of the matches that the query names, for the page's script."""
    _, shown = await request.app[SHOWN].of(request.match_info["name"])
    wanted = request.query.getall("match", [])[:_MOST_ASKED]
    return render(request, "boards.html", boards=await boards_of(request, shown, wanted), now_ms=now_ms())


async def follow(request: web.Request) -> web.StreamResponse:
    """Tell at once what the tournament is at, and again whenever that changes, as events called `tournament`."""
    feed, name = request.app[SHOWN].feed, request.match_info["name"]
    if await feed.now(name) is None:
        raise RequestError("unknown_tournament", f"there is no tournament {name[:100]!r}", status=404)

    async def send(stream: EventStream) -> None:
        async for live in feed.changes(name):
            await stream.send("tournament", {"shape": live.shape, "steps": live.steps, "now": now_ms()})

    return await streamed(request, send)
