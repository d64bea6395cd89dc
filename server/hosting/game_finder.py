"""The rules that an order means: those of a game, as it is now or was, or such as it brings, which are kept."""

import difflib
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Final

from cachetools import LRUCache

from gdl.errors import UnknownNameError
from gdl.games.library import find_game
from gdl.language.rules import read_rules, rules_sha256
from gdl.language.terms import Constant
from server import clock, threads
from server.hosting.engine_process import GameOutline, outline_here
from server.hosting.order import MatchRequest, MatchRules
from server.hosting.referees import library_hashes, outline_of
from server.refusals import RequestError
from server.storage.games import UNNAMED, GameStore, described
from server.storage.rows import GameVersion

MAX_OUTLINES: Final = 64
"""How many rules are kept read for the next order."""


class GameFinder:
    """Finds games in *games*, and keeps new rules there.

    Attributes:
        coming: the names of the games of the server's folder that are still to be looked at.
    """

    def __init__(self, games: GameStore) -> None:
        self._games = games
        self.coming: set[str] = set()
        self._outlines: LRUCache[str, GameOutline] = LRUCache(MAX_OUTLINES)
        self._versions: LRUCache[str, GameVersion] = LRUCache(MAX_OUTLINES)

    async def keep_library(self) -> None:
        """Keep the games that came with this program, where the database has not these versions of them.

        Raises:
            StorageError: the database failed.
        """
        known = {version.name: (version.sha256, version.about) for version in await self._games.listed()}
        await self._games.put(*await threads.in_own_thread(partial(new_in_library, known)))

    async def found(self, request: MatchRequest, by: str, *, may_be_old: bool = False) -> MatchRules:
        """Return the rules that *request* orders a match of; those of a game that was found before *may_be_old*.

        Raises:
            UnknownNameError: there is no such game.
            RequestError: it is still to be looked at.
            RuleFileError: the rules cannot be played.
            LimitExceeded: they cost too much.
            StorageError: the database failed.
        """
        if request.rules is not None:
            version = await self._brought(request.rules, by)
        else:
            known = self._versions.get(request.game or "") if may_be_old else None
            version = known or await self._named(request.game or "")
        return MatchRules(version, await self._outline(version))

    async def current(self, name: str) -> MatchRules:
        """Return the rules that the game *name* has now.

        Raises:
            UnknownNameError: there is no such game.
            RequestError: it is still to be looked at.
            RuleFileError: the rules cannot be played.
            StorageError: the database failed.
        """
        version = await self._named(name)
        return MatchRules(version, await self._outline(version))

    async def pinned(self, sha256: str) -> MatchRules:
        """Return the rules with that hash, whatever is current of their game.

        Raises:
            UnknownNameError: they are not there any more.
            RuleFileError: the rules cannot be played.
            StorageError: the database failed.
        """
        version = await self._games.version(sha256)
        if version is None:
            raise UnknownNameError("game", sha256)
        return MatchRules(version, await self._outline(version))

    def check_is_looked_at(self, name: str) -> None:
        """Check that the game *name*, which is not there, is none that is still to be looked at.

        Raises:
            RequestError: it is one: it may be there in a minute.
        """
        if name in self.coming:
            told = f"the game {name!r} of this server's folder is still being looked at"
            hint = f"try again in a minute; {len(self.coming)} of its games are to come, as the log of the server says"
            raise RequestError("busy", told, hint, HTTPStatus.SERVICE_UNAVAILABLE)

    async def _outline(self, version: GameVersion) -> GameOutline:
        if version.sha256 not in self._outlines:
            description = await threads.in_own_thread(partial(read_rules, version.rules, version.name))
            outline = GameOutline(description, tuple(map(Constant, version.roles)), version.is_gdl2)
            self._outlines[version.sha256] = outline
        return self._outlines[version.sha256]

    async def _named(self, name: str) -> GameVersion:
        known = self._versions.get(name)
        if known is not None and known.sha256 == await self._games.current_sha256(name):
            return known
        found = await self._games.find(name)
        if found is None:
            self.check_is_looked_at(name)
            names = {*await self._games.names(), *self.coming}
            raise UnknownNameError("game", name, difflib.get_close_matches(name, names))
        self._versions[name] = found
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
        clock.now_ms(),
        uploaded_by=by,
    )


def of_library(name: str) -> GameVersion:
    """Return the rules of a game of the library, to be kept.

    The description names the roles, and what makes rules GDL-II is seen in the text: reading the rules of all games
    would hold up the first start of a server for seconds.
    """
    file = find_game(name)
    if not file.has_metadata:
        return replace(new_version(name, outline_here(file.read()), ""), verdict="ok", is_library=True)
    rules, text = file.text(), file.metadata_path.read_text("utf-8")
    return GameVersion(
        name,
        rules_sha256(rules),
        rules,
        described(text).roles,
        file.seems_gdl2(),
        clock.now_ms(),
        about=text,
        verdict="ok",
        is_library=True,
    )


def new_in_library(known: Mapping[str, tuple[str, str | None]]) -> list[GameVersion]:
    """Return the games of the library whose rules and description are not those in *known*."""
    new = []
    for name, sha256 in library_hashes().items():
        file = find_game(name)
        about = file.metadata_path.read_text("utf-8") if file.has_metadata else None
        if known.get(name) != (sha256, about):
            new.append(of_library(name))
    return new
