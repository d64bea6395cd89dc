"""A game with its rules, verdict and plays, what differs between its versions, uploads and imports."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from aiohttp import web
from aiohttp.web_request import FileField

from gdl.editing.differences import RuleChange, RuleDifference, changed_lines, difference
from gdl.language.rules import Description
from gdl.language.syntax import Rule
from server.access.control import PRINCIPAL, requires
from server.api.games import known_import
from server.app_keys import CHECKER, IMPORTS, LEADERBOARDS, MANAGER
from server.cache import BackgroundCache
from server.errors import InvalidNameError, NameTakenError, TooManyRolesError
from server.hosting.uploads import Upload, keep_game
from server.links.player_spec import OWN_PLAYERS
from server.principal import Role
from server.refusals import RequestError
from server.storage.games import title_of, version_metadata
from server.storage.match_queries import MatchFilter
from server.storage.rows import GameVersion
from server.storage.statistics import GameStatistics
from server.threads import in_own_thread
from server.validating.validation import RulesUnfitError
from server.web import match_lists
from server.web.game_pictures import first_picture
from server.web.game_versions import FIRST_POSITIONS, known_game, shown_rules, unknown_game
from server.web.measurements import MEASUREMENTS, measured
from server.web.rendering import render, visitor_of
from server.web.rule_listing import MAX_LISTED_CHARACTERS, listing, plain, report_remarks
from server.web.template_filters import sentence
from server.web.validation_page import rules_form, verdict_of

STATISTICS: Final = web.AppKey("statistics", BackgroundCache[str, GameStatistics])
_N_MATCHES: Final = 10


async def show_game(request: web.Request) -> web.Response:
    """Show a game, in the version that the query names, else in the current one."""
    manager, name = request.app[MANAGER], request.match_info["name"]
    versions = await manager.games.versions(name)
    version, current = _chosen(versions, request.query), await known_game(request, name)
    if version is None:
        raise unknown_game(name)
    report = version.report or {}
    remarks = report_remarks(version.rules, report.get("diagnostics") or ())
    rows = await manager.matches.listed(MatchFilter(game=name), limit=_N_MATCHES)
    await request.app[MEASUREMENTS].begin([version])
    return render(
        request,
        "game.html",
        version=version,
        versions=versions,
        current=current,
        title=title_of(version),
        about=version_metadata(version),
        picture=await first_picture(request, version),
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
        matches=await request.app[match_lists.CARDS].of(rows, request.get(PRINCIPAL)),
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


_MOST_CHANGES: Final = 200
_MOST_LINES: Final = 100
_MOST_LINES_IN_ALL: Final = 5_000
"""After the change that reaches so many lines the others are only counted: the page is filled on the event loop."""
_MOST_CHARACTERS: Final = 10_000
"""How much of each rule is shown at most."""
_SIGNS: Final = {"-": "removed", "+": "added"}


async def show_difference(request: web.Request) -> web.Response:
    """Show which rules differ by meaning between the versions `old` and `new` that the query names."""
    name = request.match_info["name"]
    versions = {version.sha256: version for version in await request.app[MANAGER].games.versions(name)}
    old, new = (versions.get(request.query.get(key, "")) for key in ("old", "new"))
    if old is None or new is None:
        raise RequestError("unknown_game", f"the game {name[:100]!r} has no such two versions", "", 404)
    before, now = (await shown_rules(old)).description, (await shown_rules(new)).description
    found, changes = await in_own_thread(partial(compared, before, now))
    return render(
        request,
        "difference.html",
        old=old,
        new=new,
        title=title_of(new),
        n_same=found.n_same,
        counts=[(len(found.of_kind(kind)), kind) for kind in ("added", "removed", "changed")],
        changes=changes,
        n_more=len(found.changes) - len(changes),
    )


def compared(old: Description, new: Description) -> tuple[RuleDifference, list[dict[str, Any]]]:
    """Return what differs, and what the template shows of the first changes."""
    found, shown = difference(old, new), list[dict[str, Any]]()
    n_lines = 0
    for change in found.changes[:_MOST_CHANGES]:
        if n_lines >= _MOST_LINES_IN_ALL:
            break
        shown.append(_shown(change))
        n_lines += len(shown[-1]["lines"])
    return found, shown


def _shown(change: RuleChange) -> dict[str, Any]:
    """Return what the template shows of *change*: where the rule is, and its lines with what became of each."""
    old, new = (_first_lines(rule) for rule in (change.old, change.new))
    return {
        "kind": change.kind,
        "relation": plain(change.relation),
        "places": [
            f"line {rule.span.line} {which}"
            for rule, which in ((change.old, "before"), (change.new, "now"))
            if rule is not None
        ],
        "lines": [(_SIGNS.get(line[0], ""), line[0], plain(line[1:])) for line in changed_lines(old, new)],
    }


def _first_lines(rule: Rule | None) -> list[str]:
    return [] if rule is None else rule.span.text[:_MOST_CHARACTERS].split("\n")[:_MOST_LINES]


@requires(Role.HOST)
async def begin_import(request: web.Request) -> web.StreamResponse:
    """Begin to import the archive of the form."""
    file = (await request.post()).get("archive")
    if not isinstance(file, FileField) or not file.filename:
        raise RequestError("import_refused", "no file was chosen", "choose a ZIP archive of rule files")
    work = await request.app[IMPORTS].begin(file.file.read(), file.filename[:200], visitor_of(request).name)
    raise web.HTTPSeeOther(f"/games/imports/{work.id}")


@requires(Role.HOST)
async def show_import(request: web.Request) -> web.Response:
    """Show what became of the rule files so far."""
    work = known_import(request, request.match_info["id"])
    return render(request, "import.html", work=work)
