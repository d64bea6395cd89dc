"""Imports of many games over HTTP: a ZIP archive of rule files comes in, and a table tells what became of each."""

from __future__ import annotations

from typing import Annotated, Any, Final

from aiohttp import web
from pydantic import Base64Bytes, Field

from server.access.access import principal
from server.api.operation import IMPORTS, Name, Operations, RequestModel, ResponseModel
from server.errors import RequestError
from server.hosting.imports import GameImport
from server.visibility import Role

operations: Final = Operations("games")


class NewImport(RequestModel):
    """Games that come in: a ZIP archive in base64, called `name`, or one rule file, whose name ends in .kif or .gdl."""

    archive: Annotated[Base64Bytes, Field(min_length=1, description="base64")]
    name: Name = "games.zip"


class ImportedGame(ResponseModel):
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


class ImportAnswer(ResponseModel):
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
async def read_import(request: web.Request, import_id: Name) -> ImportAnswer:
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
