"""Rules and descriptions of games, read once, and their first positions: what boards are drawn from."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from aiohttp import web
from cachetools import LRUCache

from gdl.errors import GdlError
from gdl.games.about import About
from gdl.interpreter import InterpretedGame
from gdl.limits import EvaluationLimits
from gdl.rules import Description, read_rules
from gdl.terms import Term
from server.hosting.child_referee import ChildReferee, RefereeLimits
from server.hosting.referees import is_trusted
from server.storage.games import GameStore
from server.storage.rows import GameVersion
from server.storage.titles import about_version

_N_KEPT: Final = 256
_PATIENCE_S: Final = 3.0
_QUICK: Final = EvaluationLimits(max_rows=1_000_000, max_seconds=5.0)
_LIMITS: Final = RefereeLimits(max_seconds=10.0, max_memory_mb=1024, evaluation=_QUICK)


@dataclass(frozen=True, slots=True)
class RuleBook:
    """The rules of one version of a game, and what is told about it."""

    description: Description
    about: About | None


@lru_cache(maxsize=_N_KEPT)
def _description(rules: str) -> Description:
    return read_rules(rules, "rules")


def rule_book(version: GameVersion) -> RuleBook:
    """Return the rules of *version*, read.

    Raises:
        RuleFileError: they are no rules; nothing of the kind is kept.
    """
    return RuleBook(_description(version.rules), about_version(version))


class Shelf:
    """The versions of games that pages have shown, which never change."""

    def __init__(self, games: GameStore) -> None:
        self._games = games
        self._found: LRUCache[str, GameVersion] = LRUCache(_N_KEPT)

    async def version(self, sha256: str) -> GameVersion | None:
        """Return the version with that hash."""
        found = self._found.get(sha256) or await self._games.version(sha256)
        if found is not None and found.sha256 == sha256:
            self._found[sha256] = found
        return found


class FirstPositions:
    """The facts of first positions by version; those of uploaded games come from a process under limits."""

    def __init__(self) -> None:
        self._found: OrderedDict[str, asyncio.Task[frozenset[Term] | None]] = OrderedDict()

    async def facts(self, version: GameVersion, wait_s: float = 0.1) -> frozenset[Term] | None:
        """Return what is true at first; None where that is not known, or takes longer than *wait_s* just now."""
        task = self._found.get(version.sha256)
        if task is None:
            task = self._found[version.sha256] = asyncio.create_task(_first_facts(version))
            if len(self._found) > _N_KEPT:
                self._found.popitem(last=False)[1].cancel()
        await asyncio.wait((task,), timeout=wait_s)
        return task.result() if task.done() and not task.cancelled() else None

    async def warm(self, versions: Iterable[GameVersion]) -> None:
        """Work out the first positions of *versions* one after the other, before anybody asks."""
        for version in versions:
            await self.facts(version, wait_s=_PATIENCE_S)

    def is_at_work(self, version: GameVersion) -> bool:
        """Return whether the facts may be known soon."""
        task = self._found.get(version.sha256)
        return task is not None and not task.done()

    async def close(self) -> None:
        """End what is being worked out."""
        tasks = tuple(task for task in self._found.values() if not task.done())
        if tasks:  # a process that is just starting had better start, and be ended then
            await asyncio.wait(tasks, timeout=_PATIENCE_S)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _initial_facts(description: Description) -> frozenset[Term]:
    return InterpretedGame(description, _QUICK).initial_state.facts


async def _first_facts(version: GameVersion) -> frozenset[Term] | None:
    try:
        description = _description(version.rules)
        if is_trusted(version):
            return await asyncio.to_thread(_initial_facts, description)
        return await _facts_by_child(description, version)
    except GdlError:
        return None


async def _facts_by_child(description: Description, version: GameVersion) -> frozenset[Term]:
    referee = ChildReferee(description, (), has_imperfect_information=version.is_gdl2, limits=_LIMITS)
    try:
        return (await referee.first_position()).facts
    finally:
        await referee.close()


SHELF: Final = web.AppKey("shelf", Shelf)
FIRST_POSITIONS: Final = web.AppKey("first_positions", FirstPositions)
