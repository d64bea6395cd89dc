"""Health of players: idle ones are asked from time to time whether they are there, and records tell which failed."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeAlias

from gdl.wire.info import Status
from server.errors import UnknownPlayerError
from server.links.player_info import PlayerInfo, ask_info
from server.match.verdicts import BUSY, CONNECTION_ERROR, TIME_OUT
from server.registry.registry import Registry
from server.storage.errors import StorageError
from server.storage.rows import PlayerRow, PlayerStatus, SeatKind

AskInfo: TypeAlias = Callable[[str], Awaitable[PlayerInfo]]
"""Asks the player at an address INFO."""
CountMatches: TypeAlias = Callable[[], Awaitable[Mapping[str, int]]]
"""Tells how many matches each player plays."""
_Registration: TypeAlias = tuple[str, int, str | None]
SILENT: Final = "it does not answer INFO"
"""What the reason of a pause begins with that ends when the player answers again."""
MAX_VERSION: Final = 60
"""How long the version of a player may be."""
ALWAYS_BUSY: Final = "it only says that it is busy"
"""What the reason of a pause is that ends when the player would take a match again."""
_FAILURES: Final = frozenset((TIME_OUT, CONNECTION_ERROR, BUSY))
_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HealthSettings:
    """How often players are asked. *Units*: seconds."""

    every_s: float = 30.0
    max_silences: int = 3
    max_at_once: int = 20


@dataclass(frozen=True, slots=True)
class Health:
    """How a player is: its row as it is now, and what it said, or why that is unknown."""

    player: PlayerRow
    is_there: bool
    trouble: tuple[str, ...] = ()


DEFAULT_SETTINGS: Final = HealthSettings()


class HealthChecks:
    """Asks the players of *registry*; those that play a match are left alone, since many answer nothing meanwhile."""

    def __init__(
        self,
        registry: Registry,
        count_matches: CountMatches,
        ask: AskInfo | None = None,
        settings: HealthSettings = DEFAULT_SETTINGS,
    ) -> None:
        self._registry, self._count_matches, self._settings = registry, count_matches, settings
        self._ask: AskInfo = ask or partial(ask_info, targets=registry.settings.targets)
        self._n_silences: Counter[_Registration] = Counter()
        self._slots = asyncio.Semaphore(settings.max_at_once)

    async def run(self) -> None:
        """Check all players again and again, until cancelled."""
        while True:
            await asyncio.sleep(self._settings.every_s)
            try:
                await self.check_all()
            except StorageError as error:  # the next time may do
                _LOG.warning("players were not checked: %s", error)

    async def check_all(self) -> None:
        """Check every player that plays no match, and see which of those that dial in are connected.

        Raises:
            StorageError: the database failed.
        """
        playing = await self._count_matches()
        rows = await self._registry.store.listed()
        for gone in self._n_silences.keys() - {_registration(row) for row in rows if row.status == PlayerStatus.OK}:
            del self._n_silences[gone]
        asked = (row for row in rows if row.url is None or not playing.get(row.name))
        await asyncio.gather(*(self._check_quietly(row) for row in asked))

    async def _check_quietly(self, row: PlayerRow) -> None:
        try:
            with suppress(UnknownPlayerError):  # removed meanwhile
                await self._note(row, await self._checked(row))
        except StorageError:
            raise
        except Exception:  # whatever it is, the others are to be checked
            _LOG.exception("player %s was not checked", row.name)

    async def check(self, row: PlayerRow) -> Health:
        """Ask a player now; one that was paused for its silence goes on when it answers.

        It is paused by `check_all` alone, which knows when to ask: any caller may ask again and again here, also while
        the player thinks in a match. What it says then is returned, and not kept, as the next match may begin after it.

        Raises:
            UnknownPlayerError: it is not registered any more.
        """
        is_playing = (await self._count_matches()).get(row.name, 0) > 0
        return await self._checked(row, is_kept=not is_playing)

    async def _checked(self, row: PlayerRow, *, is_kept: bool = True) -> Health:
        """Ask a player, keep what came of it if *is_kept*, and let it go on when it answers again.

        What its owner changes meanwhile stands: it does not go on then, and what another address says is not kept.
        """
        health = await self._asked(row, is_kept=is_kept)
        if not health.is_there or _is_busy(health.player):
            return health
        self._n_silences.pop(_registration(row), None)
        if row.status == PlayerStatus.PAUSED and row.pause_reason.startswith((SILENT, ALWAYS_BUSY)):
            await self._registry.resume(row.name, still=row)
            resumed = await self._registry.get(row.name)
            return replace(health, player=replace(resumed, info=health.player.info))
        if is_kept and row.info != health.player.info:
            self._registry.on_change()
        return health

    async def _note(self, row: PlayerRow, health: Health) -> None:
        """Note of a player that plays no match whether it would take one."""
        if health.is_there and _is_busy(health.player):
            await self._note_useless(row, ALWAYS_BUSY)
        elif not health.is_there and row.kind == SeatKind.HTTP:
            await self._note_useless(row, SILENT)  # everybody reads the reason, and its owner alone the trouble

    async def _asked(self, row: PlayerRow, *, is_kept: bool) -> Health:
        """Ask the player, or see whether it is connected if it dials in; keep what came of it if *is_kept*."""
        if row.url is None:
            is_there = self._registry.request_queues.is_connected(row.name)
            seen_ms = self._registry.clock.wall_ms() if is_there else row.seen_ms
            await self._registry.store.set_info(row, row.info, seen_ms)
            return Health(await self._registry.get(row.name), is_there, () if is_there else ("it is not connected",))
        async with self._slots:
            info = await self._ask(row.url)
        if is_kept:
            seen_ms = self._registry.clock.wall_ms() if info.is_there else row.seen_ms
            version = dict(info.reply.others).get("version", "")[:MAX_VERSION]
            await self._registry.store.set_info(row, info_json(info), seen_ms, version)
        found = await self._registry.get(row.name)
        return Health(found if is_kept else replace(found, info=info_json(info)), info.is_there, info.trouble)

    async def _note_useless(self, row: PlayerRow, reason: str) -> None:
        """Note that a player that plays no match here would take none, and pause it when that goes on.

        What was noted before a pause is forgotten: a player that is resumed has as many chances as a new one.
        """
        if row.status == PlayerStatus.OK:
            self._n_silences[_registration(row)] += 1
        if self._n_silences[_registration(row)] >= self._settings.max_silences:
            await self._registry.pause(row.name, reason, still=row)
            del self._n_silences[_registration(row)]


def _registration(row: PlayerRow) -> _Registration:
    """Return what the registration of a player is known by, which another one of that name or address is not."""
    return row.name, row.created_ms, row.url


def _is_busy(row: PlayerRow) -> bool:
    return isinstance(row.info, Mapping) and row.info.get("status") == Status.BUSY.value


def info_json(info: PlayerInfo) -> dict[str, Any]:
    """Return what is kept of an answer to INFO."""
    reply = info.reply
    return {
        "name": reply.name,
        "status": None if reply.status is None else reply.status.value,
        "answered": info.answered,
        "trouble": list(info.trouble),
        "others": dict(reply.others),
    }


def has_only_failed(record: Mapping[str, Any]) -> dict[str, bool]:
    """Return by player whether it only was late, not there, or busy in the match of a public *record*.

    A player that was asked nothing has not failed; one in several seats has only failed if it did so in all.
    """
    found: dict[str, bool] = {}
    for place, player in enumerate(record.get("playerNamesFromHost", ())):
        errors = [step[place] for step in record.get("errors", ()) if place < len(step)]
        found[player] = _is_failure(errors) and found.get(player, True)
    return found


def busy_players(record: Mapping[str, Any]) -> frozenset[str]:
    """Return the players that were busy, so that the match of a public *record* did not come about."""
    names, errors = record.get("playerNamesFromHost", ()), record.get("errors", ())
    return frozenset(name for step in errors for name, error in zip(names, step, strict=False) if error == BUSY)


def _is_failure(errors: Sequence[str]) -> bool:
    return bool(errors) and all(error in _FAILURES for error in errors)
