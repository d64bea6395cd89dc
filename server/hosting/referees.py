"""The referees of one process: one for each version of a game, shared by its matches."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import Final

from gdl.child_process import ChildLimits, run_limited
from gdl.engines import make_game
from gdl.game import Role
from gdl.games.library import find_game, game_names
from gdl.interpreter import InterpretedGame
from gdl.rules import Description, read_rules
from gdl.terms import Constant
from server.hosting.child_referee import ChildReferee, RefereeLimits
from server.match.background import PromptEvaluator, in_own_thread
from server.match.referee import LocalReferee, Referee
from server.storage.rows import GameVersion

MAX_IDLE: Final = 16
"""How many referees that nobody needs are kept for the next match."""
_OUTLINE_LIMITS: Final = ChildLimits(max_seconds=30.0, max_memory_mb=1024)


@dataclass(frozen=True, slots=True)
class GameOutline:
    """What a match knows of a game without asking an engine."""

    description: Description
    roles: tuple[Role, ...]
    has_imperfect_information: bool


@dataclass(slots=True)
class _Entry:
    referee: Referee
    n_users: int = 0


class Referees:
    """Lends referees: of the library's own rules in this process, of all others in a child process under *limits*."""

    def __init__(self, limits: RefereeLimits) -> None:
        self._limits = limits
        self._entries: OrderedDict[str, _Entry] = OrderedDict()

    @asynccontextmanager
    async def lent(self, version: GameVersion) -> AsyncIterator[Referee]:
        """Lend the referee of *version* while the block runs.

        Raises:
            RuleFileError: its rules cannot be read any more.
        """
        entry = self._entries.get(version.sha256) or await self._made(version)
        entry.n_users += 1
        self._entries.move_to_end(version.sha256)
        try:
            yield entry.referee
        finally:
            entry.n_users -= 1
            await self._close_idle(MAX_IDLE)

    async def _made(self, version: GameVersion) -> _Entry:
        description = await in_own_thread(partial(read_rules, version.rules, version.name))
        if is_trusted(version):
            referee: Referee = LocalReferee(make_game(description), PromptEvaluator())
        else:
            roles = tuple(map(Constant, version.roles))
            referee = ChildReferee(
                description, roles, has_imperfect_information=version.is_gdl2, limits=self._limits
            )  # fmt: skip
        # Somebody else may have made one meanwhile.
        return self._entries.setdefault(version.sha256, _Entry(referee))

    async def close(self) -> None:
        """End what nobody uses any more."""
        await self._close_idle(0)

    async def _close_idle(self, n_kept: int) -> None:
        idle = [sha256 for sha256, entry in self._entries.items() if not entry.n_users]
        closing = [self._entries.pop(sha256).referee for sha256 in idle[: max(0, len(idle) - n_kept)]]
        await asyncio.gather(*(referee.close() for referee in closing if isinstance(referee, ChildReferee)))


@cache
def library_hashes() -> Mapping[str, str]:
    """Return the hashes of the rules that came with this program, by the game's name."""
    return {name: find_game(name).read().sha256 for name in game_names()}


def is_trusted(version: GameVersion) -> bool:
    """Return whether rules came with this program, so that they may run in this process."""
    return version.sha256 in library_hashes().values()


async def outline_of(rules: str, name: str) -> GameOutline:
    """Return the outline of rules from outside, worked out in a child process.

    Raises:
        RuleFileError: they cannot be played.
        LimitExceeded: they cost too much.
        ChildProcessDiedError: the child process gave no answer.
    """
    return await in_own_thread(partial(run_limited, read_outline, (rules, name), _OUTLINE_LIMITS))


def read_outline(rules: str, name: str) -> GameOutline:
    """Return the outline of *rules*; raises as `outline_of`, but for the limits."""
    return outline_here(read_rules(rules, name))


def outline_here(description: Description) -> GameOutline:
    """Return the outline of *description*, worked out in this process; raises RuleFileError as `outline_of`."""
    game = InterpretedGame(description)
    return GameOutline(game.description, game.roles, game.has_imperfect_information)
