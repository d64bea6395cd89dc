"""Games over HTTP: what there is, their rules and versions, new ones, archives, and what a validator says of rules."""

from typing import Annotated, Any, Final

from aiohttp import web
from pydantic import Base64Bytes, Field

from gdl.boards.metadata import MAX_BYTES as MAX_ABOUT_BYTES
from gdl.boards.metadata import metadata_of
from gdl.errors import MetadataError
from server.access.control import principal
from server.api import operation
from server.app_keys import CHECKER, IMPORTS, MANAGER
from server.hosting.imports import GameImport
from server.hosting.uploads import Upload, keep_game
from server.principal import Role
from server.refusals import RequestError
from server.storage.games import title_of, version_metadata
from server.storage.rows import GameVersion
from server.validating.checker import MAX_CHARACTERS
from server.validating.formats import file_report

operations: Final = operation.Operations("games")
RulesText = Annotated[str, Field(min_length=1, max_length=MAX_CHARACTERS)]
AboutText = Annotated[str, Field(max_length=MAX_ABOUT_BYTES, description="the game's TOML description")]


class GameLine(operation.ResponseModel):
    """A game in a list; `sha256` is that of its current rules."""

    name: str
    title: str
    roles: list[str]
    is_gdl2: bool
    is_library: bool
    sha256: str


class Games(operation.ResponseModel):
    """The games: their names, and the line of each, in the same order."""

    games: list[str]
    about: list[GameLine]


class VersionLine(operation.ResponseModel):
    """One version of a game's rules."""

    sha256: str
    created: operation.Ms
    verdict: str
    uploaded_by: str
    is_current: bool


class GameAnswer(GameLine):
    """A game, its versions (the latest first), what its TOML description says, and what the validator said."""

    summary: str | None = None
    url: str
    versions: list[VersionLine]
    report: dict[str, Any] | None = None


class Versions(operation.ResponseModel):
    """The versions of a game, the latest first."""

    versions: list[VersionLine]


class VersionQuery(operation.RequestModel):
    """Which version of a game is meant."""

    version: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of its rules")] | None = None


class NewRules(operation.RequestModel):
    """Rules for a game of that name."""

    rules: RulesText
    about: AboutText | None = None


class RulesToCheck(operation.RequestModel):
    """Rules that are validated and not kept; with `play` after random plays, too."""

    rules: RulesText
    name: operation.Name = "rules"
    play: bool = True


class Kept(operation.ResponseModel):
    """The version of a game that was kept."""

    name: str
    sha256: str
    url: str
    report: dict[str, Any]


class Report(operation.ExtensibleModel):
    """What the validator says: `verdict` is ok, wrong, or unknown where a limit came first."""

    verdict: str
    diagnostics: list[dict[str, Any]]


@operations.get("/api/v1/games")
async def list_games(request: web.Request) -> Games:
    """List the games, by name."""
    found = await request.app[MANAGER].games.listed()
    lines = [GameLine(**_line(version)) for version in found]
    return Games(games=[line.name for line in lines], about=lines)


def _line(version: GameVersion) -> dict[str, Any]:
    """Return what lists show of *version*, by the names of `GameLine`."""
    return {
        "name": version.name,
        "title": title_of(version),
        "roles": list(version.roles),
        "is_gdl2": version.is_gdl2,
        "is_library": version.is_library,
        "sha256": version.sha256,
    }


@operations.get("/api/v1/games/{name}", errors=["unknown_game_name", "busy"])
async def read_game(request: web.Request, name: operation.Name, query: VersionQuery) -> GameAnswer:
    """Tell about a game and its versions."""
    version = await _version(request, name, query)
    about = version_metadata(version)
    common = _line(version) | {"url": f"/api/v1/games/{version.name}", "versions": await _versions(request, name)}
    more = {"report": version.report, "summary": about and about.summary}
    return GameAnswer(**common, **operation.without_none(more))


async def _version(request: web.Request, name: str, query: VersionQuery) -> GameVersion:
    versions = await request.app[MANAGER].games.versions(name)
    current = await request.app[MANAGER].games.find(name)
    for version in versions:
        if version.sha256 == (query.version or (current and current.sha256)):
            return version
    if current is None:
        request.app[MANAGER].finder.check_is_looked_at(name)
    raise RequestError("unknown_game_name", f"no game {name[:100]!r}, or not that version of it", status=404)


async def _versions(request: web.Request, name: str) -> list[VersionLine]:
    """Return all versions of a game, the latest first."""
    games = request.app[MANAGER].games
    current = await games.find(name)
    return [
        VersionLine(
            sha256=version.sha256,
            created=version.created_ms,
            verdict=version.verdict,
            uploaded_by=version.uploaded_by,
            is_current=current is not None and version.sha256 == current.sha256,
        )
        for version in await games.versions(name)
    ]


@operations.get("/api/v1/games/{name}/versions", errors=["unknown_game_name", "busy"])
async def list_versions(request: web.Request, name: operation.Name) -> Versions:
    """List the versions of a game's rules, the latest first."""
    await _version(request, name, VersionQuery())
    return Versions(versions=await _versions(request, name))


@operations.get("/api/v1/games/{name}/rules", media=["text/plain"], errors=["unknown_game_name", "busy"])
async def read_rules(request: web.Request, name: operation.Name, query: VersionQuery) -> web.StreamResponse:
    """Return the text of a game's rules."""
    version = await _version(request, name, query)
    return web.Response(text=version.rules, content_type="text/plain")


@operations.get(
    "/api/v1/games/{name}/about", media=["text/plain"], errors=["unknown_game_name", "no_description", "busy"]
)
async def read_about(request: web.Request, name: operation.Name, query: VersionQuery) -> web.StreamResponse:
    """Return a game's TOML description: title, authors, board."""
    version = await _version(request, name, query)
    if version.about is None:
        raise RequestError("no_description", f"the game {version.name} has no TOML description", status=404)
    return web.Response(text=version.about, content_type="text/plain")


@operations.put(
    "/api/v1/games/{name}", role=Role.HOST, status=201,
    errors=["invalid_game_name", "game_taken", "rules_unfit", "rules_refused", "rules_too_costly", "too_many_roles",
            "about_refused", "busy"],
)  # fmt: skip
async def keep_rules(request: web.Request, name: operation.Name, body: NewRules) -> Kept:
    """Keep new rules under a name, if the validator finds them fit to play.

    They are checked and played at random in a child process under limits of time and memory. Rules that are not fit
    are refused with all that was found: `diagnostics`, with line, column, code, message and hint of each. An earlier
    version stays, and the matches by it.
    """
    _check_about(body.about)
    who = principal(request)
    upload = Upload(name, body.rules, who.name, body.about)
    version = await keep_game(
        request.app[MANAGER].games,
        request.app[CHECKER],
        upload,
        may_replace_any=who.may(Role.ADMIN),
        max_roles=request.app[MANAGER].settings.max_roles,
    )
    url = f"/api/v1/games/{version.name}"
    return Kept(name=version.name, sha256=version.sha256, url=url, report=version.report or {})


def _check_about(text: str | None) -> None:
    if text is None:
        return
    try:
        metadata_of(text.encode(), "about")
    except MetadataError as error:
        raise RequestError("about_refused", "; ".join(error.problems)[:2_000]) from error


@operations.post("/api/v1/validations", role=Role.PLAYER, errors=["busy"])
async def validate_rules(request: web.Request, body: RulesToCheck) -> Report:
    """Say what is wrong with rules, and where, without keeping them."""
    found = await request.app[CHECKER].validation(body.rules, body.name, is_played=body.play)
    return Report(**file_report(found))


class NewImport(operation.RequestModel):
    """Games that come in: a ZIP archive in base64, called `name`, or one rule file, whose name ends in .kif or .gdl."""

    archive: Annotated[Base64Bytes, Field(min_length=1, description="base64")]
    name: operation.Name = "games.zip"


class ImportedGame(operation.ResponseModel):
    """What became of a rule file: `outcome` is imported, double or refused, and `reason` says why it is no new game."""

    path: str
    outcome: str
    name: str
    title: str
    reason: str
    roles: list[str]
    warnings: list[str]
    board: str
    figures: dict[str, Any]


class ImportAnswer(operation.ResponseModel):
    """An import: what became of each rule file so far, and of how many; `problem` says why it ended before the last."""

    id: str
    url: str
    source: str
    is_over: bool
    n_games: int | None
    problem: str
    games: list[ImportedGame]


@operations.post(
    "/api/v1/imports", role=Role.HOST, status=202, errors=["import_refused", "busy"]
)  # fmt: skip
async def import_games(request: web.Request, body: NewImport) -> ImportAnswer:
    """Import the rule files of a ZIP archive as games, each validated in a child process.

    Names are made valid, and rules that are there already are left out. The import goes on in the background.
    """
    return _answer(await request.app[IMPORTS].begin(body.archive, body.name, principal(request).name))


@operations.get("/api/v1/imports/{import_id}", role=Role.HOST, errors=["unknown_import"])
async def read_import(request: web.Request, import_id: operation.Name) -> ImportAnswer:
    """Tell what became of the rule files of an import so far."""
    return _answer(known_import(request, import_id))


def known_import(request: web.Request, import_id: str) -> GameImport:
    """Return the import of that id, which is that of the caller or of any where the caller is an administrator.

    Raises:
        RequestError: there is none.
    """
    found, who = request.app[IMPORTS].find(import_id), principal(request)
    if found is None or not (found.by == who.name or who.may(Role.ADMIN)):
        raise RequestError("unknown_import", f"no import {import_id[:100]!r} is remembered", status=404)
    return found


def _answer(work: GameImport) -> ImportAnswer:
    return ImportAnswer(
        id=work.id,
        url=f"/api/v1/imports/{work.id}",
        source=work.source,
        is_over=work.is_over,
        n_games=work.n_games,
        problem=work.problem,
        games=[ImportedGame(**row.as_json()) for row in work.rows],
    )
