"""The games: all of them, and one with its rules, its first position, what the validator says and how it was played."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from aiohttp import web
from cachetools import LRUCache

from gdl.errors import GdlError
from server.access.rights import requires
from server.access.role import Role
from server.api.keys import CHECKER, MANAGER
from server.errors import RequestError
from server.hosting.errors import GameNameError, GameTakenError, RulesUnfitError
from server.hosting.uploading import Upload, keep_game
from server.spectating.listing import is_veiled
from server.storage.rows import GameVersion
from server.storage.statistics import GameStatistics
from server.storage.titles import title_of
from server.web.boards import Picture, board, picture_of
from server.web.listing import MAX_CHARACTERS, listing, told_remarks
from server.web.match_cards import CARDS
from server.web.recollection import Recollection
from server.web.rendering import render
from server.web.rule_books import FIRST_POSITIONS, rule_book
from server.web.validation_page import rules_form, verdict_of
from server.web.visitor import visitor_of

STATISTICS: Final = web.AppKey("statistics", Recollection[GameStatistics])
FIRST_PICTURES: Final = web.AppKey("first_pictures", LRUCache[str, Picture | None])
_N_MATCHES: Final = 10
N_PICTURES: Final = 256


async def show_games(request: web.Request) -> web.Response:
    """Show all games with the boards of their first positions."""
    versions = await request.app[MANAGER].games.listed()
    cards = await asyncio.gather(*(_card(request, version) for version in versions))
    return render(request, "games.html", games=cards)


async def _card(request: web.Request, version: GameVersion) -> dict[str, Any]:
    return {"version": version, "title": title_of(version), "picture": await _first_picture(request, version)}


async def _first_picture(request: web.Request, version: GameVersion) -> Picture | None:
    """Return the first position; None where it is not known, or not yet."""
    kept, title = request.app[FIRST_PICTURES], f"{title_of(version)}, first position"
    if version.sha256 in kept:
        return kept[version.sha256]
    facts = await request.app[FIRST_POSITIONS].facts(version)
    if facts is None:
        return None
    try:
        found = picture_of(board(rule_book(version), facts), title)
    except GdlError:
        found = None
    kept[version.sha256] = found
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
    remarks = told_remarks(version.rules, report.get("diagnostics", ()))
    rows = await manager.matches.listed(game=name, limit=_N_MATCHES)
    return render(
        request,
        "game.html",
        version=version,
        versions=versions,
        current=current,
        title=title_of(version),
        about=rule_book(version).about,
        picture=await _first_picture(request, version),
        is_soon=request.app[FIRST_POSITIONS].is_at_work(version),
        report=report,
        remarks=remarks,
        listing=await asyncio.to_thread(listing, version.rules, remarks),
        is_cut=len(version.rules) > MAX_CHARACTERS,
        statistics=await request.app[STATISTICS].of(name),
        matches=await request.app[CARDS].of([row for row in rows if not is_veiled(row)]),
    )


def _chosen(versions: list[GameVersion], query: Mapping[str, str]) -> GameVersion | None:
    wanted = query.get("version")
    return next((version for version in versions if wanted in (None, version.sha256)), None)


@requires(Role.HOST)
async def upload_game(request: web.Request) -> web.StreamResponse:
    """Keep the rules of the form as a game, if they are fit to play."""
    form, visitor = await rules_form(request), visitor_of(request)
    name = str((await request.post()).get("name", "")).strip()
    if form.problem:
        return render(request, "validate.html", status=400, form=form, verdict=None)
    try:
        upload = Upload(name, form.text, visitor.name)
        may_replace_any = visitor.role is Role.ADMIN
        version = await keep_game(
            request.app[MANAGER].games, request.app[CHECKER], upload, may_replace_any=may_replace_any
        )
    except RulesUnfitError as error:
        return render(request, "validate.html", status=400, form=form, verdict=verdict_of(error.validation))
    except (GameNameError, GameTakenError) as error:
        told = replace(form, problem=f"{error}.")
        return render(request, "validate.html", status=400, form=told, verdict=None)
    raise web.HTTPSeeOther(f"/games/{version.name}")
