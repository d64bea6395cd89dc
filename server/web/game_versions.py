"""Versions of games as pages show them: the current one of a name, rules and layout, first positions, each kept."""

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from aiohttp import web
from cachetools import LRUCache, TTLCache

from gdl.boards import layout_of
from gdl.boards.layout import Layout
from gdl.errors import GdlError
from gdl.game import EvaluationLimits
from gdl.interpreter import InterpretedGame
from gdl.language.rules import Description, read_rules
from gdl.language.terms import Term
from server.app_keys import MANAGER
from server.cache import BackgroundCache
from server.hosting.referees import ChildReferee, EngineProcesses, RefereeLimits, is_trusted
from server.match.position import facts_in
from server.refusals import RequestError
from server.storage.games import GameStore, version_metadata
from server.storage.rows import GameVersion
from server.threads import in_own_thread

_N_KEPT: Final = 256
_LONG_RULES: Final = 20_000
"""States of rules with more characters are laid out beside the event loop, too."""
_N_PROCESSES: Final = 2
"""How many processes work at first positions of uploaded games at once."""
_PATIENCE_S: Final = 3.0
_FRESH_S: Final = 10.0
"""How old a version may be: its rules never change, its description does where it comes again."""
_QUICK: Final = EvaluationLimits(max_rows=1_000_000, max_seconds=5.0)
_LIMITS: Final = RefereeLimits(max_seconds=10.0, max_memory_mb=1024, evaluation=_QUICK)


def unknown_game(name: str) -> RequestError:
    """Return what is said where there is no game *name*."""
    return RequestError("unknown_game", f"there is no game called {name[:100]!r}", "the games are in the menu", 404)


async def known_game(request: web.Request, name: str) -> GameVersion:
    """Return the current version of the game *name*.

    Raises:
        RequestError: there is none, or none yet.
    """
    found = await request.app[MANAGER].games.find(name)
    if found is None:
        request.app[MANAGER].finder.check_is_looked_at(name)
        raise unknown_game(name)
    return found


@dataclass(frozen=True, slots=True)
class ShownRules:
    """The rules of one version of a game, and how its states are laid out."""

    description: Description
    layout: Layout

    @property
    def is_long(self) -> bool:
        """Whether to lay out a state may take long, however few facts it has."""
        return len(self.description.source.text) > _LONG_RULES


_KEPT: Final[LRUCache[tuple[str, str | None], ShownRules]] = LRUCache(_N_KEPT)
_BEING_READ: Final[dict[tuple[str, str | None], asyncio.Task[ShownRules]]] = {}


async def shown_rules(version: GameVersion) -> ShownRules:
    """Return the rules of *version*, which are read beside the event loop, once for all who ask.

    Raises:
        RuleFileError: they are no rules; nothing of the kind is kept.
    """
    key = (version.rules, version.about)
    if key not in _KEPT:
        if key not in _BEING_READ:
            _BEING_READ[key] = asyncio.create_task(in_own_thread(partial(_read, version)))
            _BEING_READ[key].add_done_callback(lambda _: _BEING_READ.pop(key))
        _KEPT[key] = await asyncio.shield(_BEING_READ[key])
    return _KEPT[key]


def _read(version: GameVersion) -> ShownRules:
    description = read_rules(version.rules, "rules")
    return ShownRules(description, layout_of(description, version_metadata(version)))


class GameVersions:
    """The versions of games that pages have shown, for as long as what is said of them may be a little old."""

    def __init__(self, games: GameStore) -> None:
        self._games = games
        self._found: TTLCache[tuple[str, str], GameVersion] = TTLCache(_N_KEPT, _FRESH_S)

    async def version(self, name: str, sha256: str) -> GameVersion | None:
        """Return the rules with that hash as the game *name* has them, or where it has not, as another game does."""
        found = self._found.get((name, sha256)) or await self._games.played(name, sha256)
        if found is not None:
            self._found[name, sha256] = found
        return found


@dataclass(frozen=True, slots=True)
class RulesKey:
    """The rules of a version as a key of caches, which equals that of every version with that hash."""

    sha256: str
    version: GameVersion = field(compare=False)


class FirstPositions:
    """The facts of first positions by version; those of uploaded games come from a process under limits."""

    def __init__(self) -> None:
        self._facts = BackgroundCache(self._first_facts, n_kept=_N_KEPT, patience_s=0.1)
        self._processes = EngineProcesses(_N_PROCESSES)

    async def facts(self, version: GameVersion, patience_s: float | None = None) -> frozenset[Term] | None:
        """Return what is true at first; None where that is not known, or takes longer than *patience_s* just now."""
        return await self._facts.of(RulesKey(version.sha256, version), patience_s)

    async def warm(self, versions: Iterable[GameVersion], share: float) -> None:
        """Work out the first positions of *versions* before a page needs them, in a *share* of the time at most."""
        for version in versions:
            began_s = time.monotonic()
            await self.facts(version, _PATIENCE_S)
            await asyncio.sleep((time.monotonic() - began_s) * (1 / share - 1))

    def is_at_work(self, version: GameVersion) -> bool:
        """Return whether the facts may be known soon."""
        return self._facts.is_at_work(RulesKey(version.sha256, version))

    async def _first_facts(self, rules: RulesKey) -> frozenset[Term] | None:
        try:
            description = (await shown_rules(rules.version)).description
            if is_trusted(rules.version):
                return await asyncio.to_thread(_initial_facts, description)
            return await self._facts_by_child(description, rules.version)
        except GdlError:
            return None

    async def _facts_by_child(self, description: Description, version: GameVersion) -> frozenset[Term]:
        """Return the facts of the first state, computed by a referee in a child process."""
        is_gdl2 = version.is_gdl2
        referee = ChildReferee(
            description, (), has_imperfect_information=is_gdl2, limits=_LIMITS, processes=self._processes
        )
        try:
            position = await referee.first_position()
        finally:
            await referee.close()
        return await in_own_thread(partial(facts_in, position.text))

    async def close(self) -> None:
        """End what is being worked out."""
        # A process that is just starting had better start, and be ended then.
        await self._facts.close(_PATIENCE_S)


def _initial_facts(description: Description) -> frozenset[Term]:
    return InterpretedGame(description, _QUICK).initial_state.facts


GAME_VERSIONS: Final = web.AppKey("game_versions", GameVersions)
FIRST_POSITIONS: Final = web.AppKey("first_positions", FirstPositions)
