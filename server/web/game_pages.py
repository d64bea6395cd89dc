"""The games: all of them, and one with its rules, its first position, what the validator says and how it was played."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from aiohttp import web
from cachetools import LRUCache

from gdl.errors import GdlError
from server.access.access import PRINCIPAL
from server.access.settings import requires
from server.api.operation import CHECKER, MANAGER
from server.errors import InvalidNameError, NameTakenError, RequestError, RulesUnfitError, TooManyRolesError
from server.hosting.ordering import Upload, keep_game
from server.links.seating import OWN_PLAYERS
from server.storage.games import about_version, title_of
from server.storage.listing import GameStatistics
from server.storage.rows import GameVersion
from server.visibility import Role
from server.web.boards import FIRST_POSITIONS, Picture, board, picture_of, rule_book
from server.web.cache import BackgroundCache
from server.web.game_list import BOARDS, KINDS, N_ON_PAGE, ROLES, SORTS, GameQuery, GameTraits, measured, traits_of
from server.web.leaderboards import LEADERBOARDS
from server.web.match_lists import CARDS
from server.web.measuring import MEASUREMENTS
from server.web.rendering import render, sentence, visitor_of
from server.web.validation_page import MAX_LISTED_CHARACTERS, listing, report_remarks, rules_form, verdict_of

STATISTICS: Final = web.AppKey("statistics", BackgroundCache[str, GameStatistics])
FIRST_PICTURES: Final = web.AppKey("first_pictures", LRUCache[str, Picture | None])
_N_MATCHES: Final = 10
N_PICTURES: Final = 256


_TRAITS: Final[LRUCache[tuple[str, str, str | None, str, bool], GameTraits]] = LRUCache(4_096)
"""What versions are like: they never change but for what is said of them."""


async def show_games(request: web.Request) -> web.Response:
    """Show the games that the query asks for, a page at a time, with pictures of their first positions."""
    versions = await request.app[MANAGER].games.listed()
    games = [_traits(version) for version in versions]
    wanted = GameQuery.of(request.query, request.query.getall("kind", []))
    if wanted.needs_figures:
        await request.app[MEASUREMENTS].begin(versions)
    found = wanted.found(games)
    n_pages = max(1, -(-len(found) // N_ON_PAGE))
    page = min(wanted.page, n_pages)
    tags = sorted({tag for game in games for tag in game.tags})
    return render(
        request,
        "games.html",
        games=found[(page - 1) * N_ON_PAGE : page * N_ON_PAGE],
        n_games=len(games),
        n_found=len(found),
        page=page,
        n_pages=n_pages,
        wanted=wanted,
        roles=list(ROLES.items()),
        boards=list(BOARDS.items()),
        kinds=list(KINDS.items()),
        sorts=[(name, words) for name, (words, _) in SORTS.items()],
        tags=[(tag, tag) for tag in tags],
    )


def _traits(version: GameVersion) -> GameTraits:
    key = (version.name, version.sha256, version.about, version.verdict, version.report is None)
    if key not in _TRAITS:
        _TRAITS[key] = traits_of(version)
    return _TRAITS[key]


async def _first_picture(request: web.Request, version: GameVersion) -> Picture | None:
    """Return the first position; None where it is not known, or not yet."""
    kept, title = request.app[FIRST_PICTURES], f"{title_of(version)}, first position"
    key = version.fingerprint
    if key in kept:
        return kept[key]
    facts = await request.app[FIRST_POSITIONS].facts(version)
    if facts is None:
        return None
    try:
        found = await picture_of(await board(await rule_book(version), facts), title)
    except GdlError:
        found = None
    kept[key] = found
    return found


async def show_game(request: web.Request) -> web.Response:
    """Show a game, in the version that the query names, else in the current one."""
    manager, name = request.app[MANAGER], request.match_info["name"]
    versions = await manager.games.versions(name)
    version = _chosen(versions, request.query)
    current = await manager.games.find(name)
    if version is None or current is None:
        raise RequestError("unknown_game", f"there is no game called {name[:100]!r}", "the games are in the menu", 404)
    report = version.report if isinstance(version.report, Mapping) else {}
    remarks = report_remarks(version.rules, report.get("diagnostics", ()))
    rows = await manager.matches.listed(game=name, limit=_N_MATCHES)
    await request.app[MEASUREMENTS].begin([version])
    return render(
        request,
        "game.html",
        version=version,
        versions=versions,
        current=current,
        title=title_of(version),
        about=about_version(version),
        picture=await _first_picture(request, version),
        is_soon=request.app[FIRST_POSITIONS].is_at_work(version),
        report=report,
        n_plays=request.app[CHECKER].n_plays(version.sha256),
        remarks=remarks,
        measured=measured(version),
        listing=await asyncio.to_thread(listing, version.rules, remarks),
        is_cut=len(version.rules) > MAX_LISTED_CHARACTERS,
        opponents=OWN_PLAYERS,
        statistics=await request.app[STATISTICS].of(name),
        board=await request.app[LEADERBOARDS].of(name),
        played_roles=version.played_roles,
        matches=await request.app[CARDS].of(rows, request.get(PRINCIPAL)),
    )


def _chosen(versions: list[GameVersion], query: Mapping[str, str]) -> GameVersion | None:
    wanted = query.get("version")
    return next((version for version in versions if wanted in (None, version.sha256)), None)


@requires(Role.HOST)
async def upload_game(request: web.Request) -> web.StreamResponse:
    """Keep the rules of the form as a game, if they are fit to play."""
    form, visitor = await rules_form(request), visitor_of(request)
    if form.problem:
        return render(request, "validate.html", status=400, form=form, verdict=None)
    try:
        upload = Upload(form.name, form.text, visitor.name, (form.about.strip() and form.about) or None)
        manager, may_replace_any = request.app[MANAGER], visitor.role is Role.ADMIN
        max_roles = manager.settings.max_roles
        version = await keep_game(
            manager.games, request.app[CHECKER], upload, may_replace_any=may_replace_any, max_roles=max_roles
        )
    except RulesUnfitError as error:
        return render(request, "validate.html", status=400, form=form, verdict=verdict_of(error.validation))
    except (InvalidNameError, NameTakenError, TooManyRolesError) as error:
        refused = replace(form, problem=sentence(error))
        return render(request, "validate.html", status=400, form=refused, verdict=None)
    raise web.HTTPSeeOther(f"/games/{version.name}")
