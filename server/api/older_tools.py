"""Matches and games as older tools read them: records and feeds of a spectator server, rules of a game repository.

Source: the public spectator server and game repository.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final
from xml.etree.ElementTree import Element, SubElement, tostring

from aiohttp import web

from server.access.control import ACCESS, REMOTE
from server.app_keys import MANAGER
from server.spectating.public_record import public_record_text
from server.storage.games import title_of
from server.storage.match_queries import MatchFilter
from server.storage.rows import GameVersion, MatchRow, MatchStatus

_STATUSES: Final[dict[str, str | None]] = {"updatedFeed": None, "completedFeed": MatchStatus.COMPLETED}
"""What status the matches of each feed have; None for any."""
N_ENTRIES: Final = 100
RULES_FILE: Final = "rulesheet.kif"
_ATOM: Final = "http://www.w3.org/2005/Atom"


def add_routes(app: web.Application) -> None:
    """Add these addresses to *app*; outside of /api/, where older tools look."""
    app.router.add_get("/matches/feeds/{feed}", read_feed)
    app.router.add_get("/matches/{match_id}/", read_record)
    app.router.add_get("/base/games/", list_games)
    app.router.add_get("/base/games/{name}/", read_game)
    app.router.add_get("/base/games/{name}/v{number:[0-9]{1,9}}/", read_game)
    app.router.add_get(f"/base/games/{{name}}/{RULES_FILE}", read_rules)
    app.router.add_get(f"/base/games/{{name}}/v{{number:[0-9]{{1,9}}}}/{RULES_FILE}", read_rules)


async def read_record(request: web.Request) -> web.StreamResponse:
    """Return the match record, or its public view; browsers are sent to the page."""
    match_id = request.match_info["match_id"]
    if "text/html" in request.headers.get("Accept", ""):
        raise web.HTTPSeeOther(request.path.rstrip("/"))
    return _cross_origin(request, web.json_response(text=await public_record_text(request.app[MANAGER], match_id)))


async def read_feed(request: web.Request) -> web.StreamResponse:
    """Return the ids of the latest matches, as JSON or Atom."""
    name, _, form = request.match_info["feed"].rpartition(".")
    if name not in _STATUSES or form not in ("json", "atom"):
        raise web.HTTPNotFound
    wanted = MatchFilter(_STATUSES[name], has_begun=True)
    rows = await request.app[MANAGER].matches.listed(wanted, limit=N_ENTRIES)
    if form == "json":
        return _cross_origin(request, web.json_response({name: [row.id for row in rows]}))
    text = _atom(name, request[REMOTE].origin, rows)
    return _cross_origin(request, web.Response(body=text, content_type="application/atom+xml", charset="utf-8"))


def _atom(name: str, origin: str, rows: Sequence[MatchRow]) -> bytes:
    """Return the Atom feed *name* of the matches *rows*."""
    feed = Element("feed", xmlns=_ATOM)
    SubElement(feed, "id").text = f"{origin}/matches/feeds/{name}.atom"
    SubElement(feed, "title").text = f"Matches [{name}]"
    SubElement(feed, "updated").text = _date(max((_changed_ms(row) for row in rows), default=0))
    SubElement(SubElement(feed, "author"), "name").text = "the game manager"
    for row in rows:
        entry = SubElement(feed, "entry")
        SubElement(entry, "id").text = f"{origin}/matches/{row.id}/"
        SubElement(entry, "title").text = "Match"
        SubElement(entry, "link", href=f"{origin}/matches/{row.id}/")
        SubElement(entry, "updated").text = _date(_changed_ms(row))
        SubElement(entry, "summary").text = f"The match is {row.status}."
    text: bytes = tostring(feed, encoding="utf-8", xml_declaration=True)
    return text


def _changed_ms(row: MatchRow) -> int:
    return row.ended_ms or row.started_ms or row.created_ms


def _date(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


async def list_games(request: web.Request) -> web.StreamResponse:
    """Return the names of all games."""
    return _cross_origin(request, web.json_response(await request.app[MANAGER].games.names()))


async def read_game(request: web.Request) -> web.StreamResponse:
    """Return the metadata of a game's version: the current one, or number N of those that there were."""
    number, version = await _version(request)
    answer: dict[str, Any] = {
        "gameName": title_of(version),
        "version": number,
        "rulesheet": RULES_FILE,
        "roleNames": list(version.roles),
        "numRoles": len(version.roles),
    }
    return _cross_origin(request, web.json_response(answer))


async def read_rules(request: web.Request) -> web.StreamResponse:
    """Return the text of a version's rules."""
    _, version = await _version(request)
    return _cross_origin(request, web.Response(text=version.rules, content_type="text/plain"))


async def _version(request: web.Request) -> tuple[int, GameVersion]:
    """Return the version of the game that the path names, with its number; without a number the current one."""
    name, number = request.match_info["name"], request.match_info.get("number")
    games = request.app[MANAGER].games
    versions = list(reversed(await games.versions(name)))
    current = await games.find(name)
    for i, version in enumerate(versions):
        if current is not None and (version.sha256 == current.sha256 if number is None else i == int(number)):
            return i, version
    raise web.HTTPNotFound


def _cross_origin(request: web.Request, response: web.Response) -> web.Response:
    """Let pages of other origins read *response*, where everybody may: viewers run in browsers."""
    if request.app[ACCESS].settings.is_public:
        response.headers["Access-Control-Allow-Origin"] = "*"
    return response
