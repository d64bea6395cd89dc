"""Which rules an order means: a game of the database, or the rules that it brings, which are kept then."""

from __future__ import annotations

import difflib
from dataclasses import replace
from functools import partial
from typing import Final

from cachetools import LRUCache

from gdl.errors import UnknownNameError
from gdl.games.library import find_game
from gdl.rules import read_rules, rules_sha256
from gdl.terms import Constant
from server.hosting.order import OrderText
from server.hosting.referees import GameOutline, library_hashes, outline_here, outline_of
from server.match.background import in_own_thread
from server.match.clock import now_ms
from server.storage.games import UNNAMED, GameStore
from server.storage.rows import GameVersion

MAX_OUTLINES: Final = 64
"""How many rules are kept read for the next order."""


class GameFinder:
    """Finds games in *games*, and keeps new rules there."""

    def __init__(self, games: GameStore) -> None:
        self._games = games
        self._outlines: LRUCache[str, GameOutline] = LRUCache(MAX_OUTLINES)

    async def keep_library(self) -> None:
        """Keep the games that came with this program, where the database has not these versions of them.

        Raises:
            StorageError: the database failed.
        """
        known = {version.name: version.sha256 for version in await self._games.listed()}
        for name, sha256 in (await in_own_thread(library_hashes)).items():
            if known.get(name) != sha256:
                await self._games.put(await in_own_thread(partial(_of_library, name)))

    async def found(self, text: OrderText, by: str) -> tuple[GameVersion, GameOutline]:
        """Return the rules that *text* orders a match of.

        Raises:
            UnknownNameError: there is no such game.
            RuleFileError: the rules cannot be played.
            LimitExceeded: they cost too much.
            StorageError: the database failed.
        """
        version = await self._brought(text.rules, by) if text.rules is not None else await self._named(text.game or "")
        return version, await self._outline(version)

    async def _outline(self, version: GameVersion) -> GameOutline:
        if version.sha256 not in self._outlines:
            description = await in_own_thread(partial(read_rules, version.rules, version.name))
            outline = GameOutline(description, tuple(map(Constant, version.roles)), version.is_gdl2)
            self._outlines[version.sha256] = outline
        return self._outlines[version.sha256]

    async def _named(self, name: str) -> GameVersion:
        found = await self._games.find(name)
        if found is None:
            raise UnknownNameError("game", name, difflib.get_close_matches(name, await self._games.names()))
        return found

    async def _brought(self, rules: str, by: str) -> GameVersion:
        known = await self._games.version(rules_sha256(rules))
        if known is not None:
            return known
        version = new_version(UNNAMED, await outline_of(rules, "rules"), by)
        await self._games.put(version)
        return version


def new_version(name: str, outline: GameOutline, by: str) -> GameVersion:
    """Return the rules of *outline* as *by* brings them now, to be kept as the game *name*."""
    return GameVersion(
        name,
        outline.description.sha256,
        outline.description.source.text,
        tuple(map(str, outline.roles)),
        outline.has_imperfect_information,
        now_ms(),
        uploaded_by=by,
    )


def _of_library(name: str) -> GameVersion:
    file = find_game(name)
    about = file.about_path.read_text("utf-8") if file.about_path.is_file() else None
    version = new_version(name, outline_here(file.read()), "")
    return replace(version, about=about, verdict="ok", is_library=True)
