"""Tournaments over HTTP: ordering and entering them, standings, and what a host does with one that runs."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from aiohttp import web

from gdl.game import played_roles
from server.access.control import principal
from server.api import tournament_models as models
from server.api.operation import MatchId, Name, Operations, without_none
from server.api.player_models import is_own
from server.app_keys import MANAGER
from server.clock import now_ms
from server.hosting import tournament_changes
from server.hosting.game_manager import GameManager
from server.hosting.tournament_progress import check_games, check_schedule
from server.links.seating import check_n_roles
from server.match.chance import new_seed
from server.principal import Principal, Role
from server.refusals import RequestError
from server.storage import rows, tournament_rows
from server.storage.tournaments import StoredTournament, TournamentChange
from server.tournament.fixtures import TournamentGame, derived_seed

TOURNAMENT: Final = f"{models.URL}/{{name}}"
operations: Final = Operations("tournaments")
_UNKNOWN: Final = ("unknown_tournament",)
_STATUS: Final = ("unknown_tournament", "wrong_status")
_ENTRY: Final = ("invalid_player", "unknown_player", "not_registered", "already_entered", "wrong_entrants")
_LATER_ENTRY: Final = (
    "let entry close later, or leave that out: then it closes at the start; "
    'with entry = "invitation" the host enters players'
)


@operations.get(models.URL, errors=_UNKNOWN)
async def list_tournaments(request: web.Request, query: models.TournamentsQuery) -> models.TournamentsAnswer:
    """List tournaments, the latest first."""
    found, after = await request.app[MANAGER].tournaments.store.page(query.before, query.limit)
    lines = list(map(models.tournament_line, found))
    return models.TournamentsAnswer(tournaments=lines, **without_none({"next": after}))


@operations.post(
    models.URL, role=Role.HOST, status=201, invalid="invalid_tournament", from_toml=models.order_of_toml,
    errors=("unknown_game", "rules_refused", "rules_too_costly", "too_many_roles", "tournament_taken", "busy", *_ENTRY),
)  # fmt: skip
async def order_tournament(request: web.Request, body: models.NewTournament) -> models.TournamentLine:
    """Order a tournament; it can be entered at once, and begins when it is started, or at the time that it says.

    As TOML (`Content-Type: application/toml`) it has the keys of a plan of `ggp tournament run`, `name`, and the others
    in snake case. The versions of the games are those of now throughout. Name and seed decide the ids and the seeds of
    its matches.
    """
    manager, viewer, at_ms = request.app[MANAGER], principal(request), now_ms()
    _check_entry(body, at_ms)
    games = {name: await _pinned(manager, name) for name in body.games}
    seed = body.seed if "seed" in body.model_fields_set else new_seed()
    terms = body.terms.model_copy(update={"seed": derived_seed("tournament", body.name, seed)})
    row = tournament_rows.TournamentRow(
        body.name, viewer.name, terms, games, at_ms, entry=body.entry, timetable=body.timetable
    )
    check_games(row)
    found = StoredTournament(row, ())
    for entry in body.players:
        entrant = await _entrant(manager, entry, viewer)
        found = replace(found, entrants=(*found.entrants, tournament_changes.placed(found, entrant)))
    if not await manager.tournaments.store.add(row, found.entrants):
        raise RequestError("tournament_taken", f"there is a tournament {body.name!r} already", status=409)
    return models.tournament_line(row)


def _check_entry(body: models.NewTournament, at_ms: int) -> None:
    """Raise RequestError if players may enter by themselves, but the time to do so is over at *at_ms*."""
    closes = body.entry_closes
    if closes is None or body.entry != tournament_rows.EntryRule.OPEN or 1000 * closes.timestamp() > at_ms:
        return
    reason = f"entry closes at {closes.isoformat(sep=' ', timespec='minutes')}, which is over: no player could enter"
    raise RequestError("invalid_tournament", reason, _LATER_ENTRY)


async def _pinned(manager: GameManager, name: str) -> tournament_rows.PinnedGame:
    """Return the current version of a game of the library, or one that was uploaded, for a tournament.

    Raises:
        UnknownNameError: there is none.
        RequestError: players cannot compete in it.
    """
    rules = await manager.finder.current(name)
    check_n_roles(rules.outline, manager.settings.max_roles)
    try:
        game = TournamentGame(name, len(played_roles(rules.outline)))
    except ValueError as error:
        raise RequestError("invalid_tournament", f"games: {error}") from error
    return tournament_rows.PinnedGame(rules.version.sha256, game.n_roles)


@operations.get(TOURNAMENT, errors=_UNKNOWN)
async def read_tournament(request: web.Request, name: str) -> models.TournamentAnswer:
    """Return a tournament: its terms, entrants, matches and standings."""
    return await _answer(request, await request.app[MANAGER].tournaments.get(name))


@operations.post(f"{TOURNAMENT}/entries", role=Role.PLAYER, status=201, errors=(*_STATUS, "entry_closed", *_ENTRY))
async def enter_tournament(request: web.Request, name: str, body: models.EntryText) -> models.TournamentAnswer:
    """Enter one's own registered player; a host enters any, also players of the server, and late ones.

    A late entrant plays from the next round on; a knockout admits none.
    """
    manager, viewer = request.app[MANAGER], principal(request)
    found = await manager.tournaments.get(name)
    if not viewer.may(Role.HOST) and found.row.entry != tournament_rows.EntryRule.OPEN:
        raise RequestError("entry_closed", "this tournament is by invitation: its host enters players", status=409)
    entrant = await _entrant(manager, body, viewer)
    is_host, at_ms = viewer.may(Role.HOST), now_ms()
    return await _changed(
        request, name, lambda found: tournament_changes.entered(found, entrant, at_ms, is_host=is_host)
    )


async def _entrant(manager: GameManager, entry: models.EntryText, viewer: Principal) -> tournament_rows.EntrantRow:
    """Return the entrant whom *viewer* enters, in no place yet.

    Raises:
        RequestError: it is not theirs to enter, or no player that can be entered.
        UnknownPlayerError: no player of that name is registered.
        UnknownNameError: no player of ours is called so.
    """
    if viewer.may(Role.HOST):
        kind = (await manager.registry.resolve(entry.player)).kind
        if kind == rows.SeatKind.HUMAN or "://" in entry.player:
            told = f"{entry.player[:100]} cannot be entered: registered players can be, and those of the server"
            raise RequestError("invalid_player", told, "POST /api/v1/players registers the player at an address")
    elif not is_own(await manager.registry.get(entry.player), viewer):
        raise RequestError("forbidden", f"the player {entry.player} belongs to another owner", status=403)
    elif entry.name not in (None, entry.player):
        raise RequestError("invalid_player", "a registered player is entered by its own name")
    return tournament_rows.EntrantRow(entry.name or entry.player, entry.player, 0, viewer.name, now_ms())


@operations.delete(
    f"{TOURNAMENT}/entries/{{entrant}}", role=Role.PLAYER, errors=(*_STATUS, "not_entered", "not_registered")
)
async def withdraw(
    request: web.Request, name: str, entrant: Name, query: models.WithdrawalQuery
) -> models.TournamentAnswer:
    """Withdraw one's own player, or as a host any; its open matches are forfeited, or with `annul` none of its counts.

    Without the matches of an entrant that withdraws early from a round robin, an opponent that was still to come is no
    better off than one that has played it (FIDE Handbook C.05).
    """
    manager, viewer = request.app[MANAGER], principal(request)
    entered = {one.name: one for one in (await manager.tournaments.get(name)).entrants}
    if entrant not in entered:
        raise tournament_changes.not_entered(entrant)
    if not viewer.may(Role.HOST):
        player = await manager.registry.get(entered[entrant].player)
        if not (is_own(player, viewer) and entered[entrant].is_played_by(player)):
            raise RequestError("forbidden", f"the player {entrant} belongs to another owner", status=403)
    if query.annul and not viewer.may(Role.HOST):
        raise RequestError("forbidden", "only a host annuls the matches of an entrant who withdraws", status=403)
    done = _done(request, tournament_rows.InterventionKind.WITHDRAW, query.reason, entrant=entrant)
    by_host = [done] if viewer.may(Role.HOST) else []

    def withdrawn(found: StoredTournament) -> TournamentChange:
        return replace(tournament_changes.withdrawn(found, done, annuls=query.annul), interventions=by_host)

    return await _changed(request, name, withdrawn)


@operations.post(f"{TOURNAMENT}/start", role=Role.HOST, errors=(*_STATUS, "wrong_entrants", "no_schedule"))
async def start_tournament(request: web.Request, name: str) -> models.TournamentAnswer:
    """Start a tournament with those who have entered."""
    done = _done(request, tournament_rows.InterventionKind.START)
    await _check_schedule(request, name, tournament_rows.TournamentStatus.OPEN)
    return await _changed(request, name, lambda found: tournament_changes.begun(found, done))


async def _check_schedule(request: web.Request, name: str, status: tournament_rows.TournamentStatus) -> None:
    """Refuse to start a tournament of that *status* which has no schedule; the change itself refuses other ones."""
    found = await request.app[MANAGER].tournaments.get(name)
    if found.row.status == status and not found.fixtures:
        await check_schedule(found)


@operations.post(f"{TOURNAMENT}/pause", role=Role.HOST, errors=_STATUS)
async def pause_tournament(request: web.Request, name: str, body: models.ReasonText) -> models.TournamentAnswer:
    """Order no more matches of a tournament for now; those that were ordered are played."""
    done = _done(request, tournament_rows.InterventionKind.PAUSE, body.reason)
    return await _changed(request, name, lambda found: tournament_changes.suspended(found, done))


@operations.post(f"{TOURNAMENT}/resume", role=Role.HOST, errors=(*_STATUS, "wrong_entrants", "no_schedule"))
async def resume_tournament(request: web.Request, name: str) -> models.TournamentAnswer:
    """Go on with a tournament that was paused; one that could not start at its time starts now."""
    done = _done(request, tournament_rows.InterventionKind.RESUME)
    await _check_schedule(request, name, tournament_rows.TournamentStatus.PAUSED)
    return await _changed(request, name, lambda found: tournament_changes.resumed(found, done))


@operations.post(f"{TOURNAMENT}/cancel", role=Role.HOST, errors=_STATUS)
async def cancel_tournament(request: web.Request, name: str, body: models.ReasonText) -> models.TournamentAnswer:
    """End a tournament for good, and abort its matches."""
    done = _done(request, tournament_rows.InterventionKind.CANCEL, body.reason)
    return await _changed(request, name, lambda found: tournament_changes.cancelled(found, done))


@operations.post(
    f"{TOURNAMENT}/matches/{{match_id}}/annul", role=Role.HOST, errors=(*_STATUS, "unknown_match", "already_annulled")
)
async def annul_match(
    request: web.Request, name: str, match_id: MatchId, body: models.AnnulmentText
) -> models.TournamentAnswer:
    """Count a match no more, and with `replay` play it again, with the same seats and seeds.

    A tournament that is over goes on until nothing is left to play.
    """
    kind = tournament_rows.InterventionKind.REPLAY if body.replay else tournament_rows.InterventionKind.ANNUL
    done = _done(request, kind, body.reason, match_id=match_id)
    return await _changed(request, name, lambda found: tournament_changes.annulled(found, done))


@operations.post(
    f"{TOURNAMENT}/entries/{{entrant}}/substitute", role=Role.HOST, errors=(*_STATUS, "not_entered", *_ENTRY[:3])
)
async def substitute_player(
    request: web.Request, name: str, entrant: Name, body: models.SubstitutionText
) -> models.TournamentAnswer:
    """Have another player play for an entrant from its next match on; its results stay.

    Matches that wait are ordered anew; one that is being played goes on with the player that it has.
    """
    viewer = principal(request)
    player = (await _entrant(request.app[MANAGER], models.EntryText(player=body.player, name=entrant), viewer)).player
    done = _done(request, tournament_rows.InterventionKind.SUBSTITUTE, body.reason, entrant=entrant, player=player)
    return await _changed(request, name, lambda found: tournament_changes.substituted(found, done))


def _done(
    request: web.Request, kind: tournament_rows.InterventionKind, reason: str = "", **about: str
) -> tournament_rows.InterventionRow:
    return tournament_rows.InterventionRow(kind, principal(request).name, now_ms(), reason, **about)


async def _answer(request: web.Request, found: StoredTournament) -> models.TournamentAnswer:
    """Return all that everybody may know of a tournament; of a large one its standings take long."""
    return await asyncio.to_thread(models.tournament_answer, found, request.app[MANAGER].wait_reasons)


async def _changed(
    request: web.Request, name: str, change: Callable[[StoredTournament], TournamentChange]
) -> models.TournamentAnswer:
    return await _answer(request, await request.app[MANAGER].tournaments.change(name, change))
