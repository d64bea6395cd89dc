"""The matches of one game manager: many at once, each in a task of its own, and the records of those that are over."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from gdl.errors import GdlError
from server.errors import TooManyMatchesError, UnknownMatchError
from server.hosting.hosted import HostedMatch, MatchOrder
from server.records.journal import SUFFIX as JOURNAL_SUFFIX
from server.records.journal import journal_path, read_entries
from server.records.record import record_of

MAX_RUNNING: Final = 64
MAX_LISTED: Final = 1_000
RECORD_SUFFIX: Final = ".json"
_ID: Final = re.compile(r"[A-Za-z0-9]+(\.[A-Za-z0-9]+)*")
_LOG: Final = logging.getLogger(__name__)


class Matches:
    """Plays what is ordered and keeps the records in the folder *records*; at most *max_running* matches at once."""

    def __init__(self, records: Path, signing_key: RSAPrivateKey | None = None, max_running: int = MAX_RUNNING) -> None:
        self._records, self._signing_key, self._max_running = records, signing_key, max_running
        self._running: dict[str, tuple[HostedMatch, asyncio.Task[None]]] = {}
        self._over: dict[str, dict[str, Any]] = {}

    def start(self, order: MatchOrder) -> HostedMatch:
        """Begin the match; it goes on by itself.

        Raises:
            TooManyMatchesError: as many as may be played at once are.
            UnknownNameError: as `HostedMatch`.
            OSError: its journal cannot be made.
        """
        if len(self._running) >= self._max_running:
            raise TooManyMatchesError(self._max_running)
        match = HostedMatch(order, self.record_path(order.match_id), self._signing_key)
        self._running[order.match_id] = match, asyncio.create_task(self._play(match))
        return match

    async def _play(self, match: HostedMatch) -> None:
        failed = {"status": "failed"}
        try:
            await match.play()
            failed = {}
        except (GdlError, OSError) as error:
            _LOG.warning("match %s: %s", match.order.match_id, error)
        except Exception:  # the game manager outlives whatever a match does
            _LOG.exception("match %s", match.order.match_id)
        finally:
            self._running.pop(match.order.match_id)
            self._over[match.order.match_id] = _listed(match) | failed
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        while len(self._over) > MAX_LISTED:
            del self._over[next(iter(self._over))]

    def record_path(self, match_id: str) -> Path:
        """Return where the record of a match is when it is over."""
        return self._records / f"{match_id}{RECORD_SUFFIX}"

    def listed(self) -> list[dict[str, Any]]:
        """Return what is public of the matches, the latest first: those of this process, then older records' ids."""
        known = [*self._over.values(), *(_listed(match) for match, _ in self._running.values())]
        ids = {entry["id"] for entry in known}
        older = [{"id": name, "status": status} for name, status in self._stored() if name not in ids]
        return [*reversed(known), *older][:MAX_LISTED]

    def _stored(self) -> Iterator[tuple[str, str]]:
        with contextlib.suppress(OSError):
            for status, ending in (("recorded", RECORD_SUFFIX), ("interrupted", RECORD_SUFFIX + JOURNAL_SUFFIX)):
                names = sorted(path.name.removesuffix(ending) for path in self._records.glob(f"*{ending}"))
                yield from ((name, status) for name in names if _ID.fullmatch(name))

    async def public_record(self, match_id: str) -> dict[str, Any]:
        """Return the public view of a match's record.

        Raises:
            UnknownMatchError: there is no such match.
        """
        if match_id in self._running:
            return _public_view(self._running[match_id][0])
        found = await asyncio.to_thread(self._stored_record, match_id) if _ID.fullmatch(match_id) else None
        if found is None and match_id in self._over:
            return {"matchId": match_id, "isCompleted": False, "isAborted": True, "x-status": "failed"}
        if found is None:
            raise UnknownMatchError(match_id)
        return found

    def _stored_record(self, match_id: str) -> dict[str, Any] | None:
        path = self.record_path(match_id)
        if path.is_file():
            found: dict[str, Any] = json.loads(path.read_text("utf-8"))
            return found
        if journal_path(path).is_file():  # of a process that crashed, or plays on: so no more than the public view
            entries = read_entries(journal_path(path).read_text("utf-8"))
            return record_of(entries).public_view() | {"x-status": "interrupted"}
        return None

    def abort(self, match_id: str, reason: str) -> bool:
        """End the match soon, and return whether it was still being played.

        Raises:
            UnknownMatchError: there is no such match.
        """
        if match_id in self._running:
            self._running[match_id][0].abort(reason)
            return True
        if match_id in self._over or (_ID.fullmatch(match_id) and self.record_path(match_id).is_file()):
            return False
        raise UnknownMatchError(match_id)

    async def close(self, reason: str = "the game manager shuts down", limit_s: float = 15.0) -> None:
        """Abort every match, and wait until their records are written; after *limit_s* the rest is cancelled."""
        tasks = [task for _, task in self._running.values()]
        for match, _ in tuple(self._running.values()):
            match.abort(reason)
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=limit_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _public_view(match: HostedMatch) -> dict[str, Any]:
    if match.record.has_begun:
        return match.record.public_view() | {"x-status": match.record.status}
    return {"matchId": match.order.match_id, "isCompleted": False, "isAborted": False, "x-status": "starting"}


def _listed(match: HostedMatch) -> dict[str, Any]:
    record, order = match.record, match.order
    found: dict[str, Any] = {
        "id": order.match_id,
        "status": record.status if record.has_begun else "starting",
        "steps": record.n_steps,
        "startClock": order.start_clock_s,
        "playClock": order.play_clock_s,
    }
    if record.has_ended or not match.is_scrambled:
        found |= {"game": order.game_name, "players": {str(seat.role): seat.player_name for seat in match.setup.seats}}
    if record.goals is not None:
        found["result"] = dict(zip(map(str, order.game.roles), record.goals, strict=True))
    return found
