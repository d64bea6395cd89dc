"""Students' players that dial in over a real connection, good and bad ones, and dial again when it is lost."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

import aiohttp

REDIAL_S: Final = 0.2
_LOST: Final = (aiohttp.ClientError, ConnectionError, TimeoutError)


class Habit(StrEnum):
    """How a student's player plays."""

    GOOD = "good"
    CRASHING = "crashing"
    """Now and then ends in the middle of a move, and is started again without what it knew."""
    SLOW = "slow"
    """Misses a clock now and then."""
    ILLEGAL = "illegal"
    """Answers what is no legal move, always."""
    VANISHING = "vanishing"
    """Leaves in its first match, for good."""


class _CrashError(Exception):
    """The player's process ends."""


@dataclass
class Student:
    """A student with a token, whose player is called as they are."""

    name: str
    token: str
    habit: Habit = Habit.GOOD
    slow_s: float = 2.5
    has_left: bool = False
    _chance: random.Random = field(default_factory=random.Random, repr=False)

    def __post_init__(self) -> None:
        self._chance.seed(self.name)

    async def ask(self, session: aiohttp.ClientSession, path: str, body: object = None) -> tuple[int, Any]:
        """Return status and JSON of the answer to a POST as the student."""
        async with session.post(f"/api/v1{path}", json=body, headers=self._headers) as answer:
            return answer.status, await answer.json()

    async def play(self, session: aiohttp.ClientSession) -> None:
        """Dial in, and again whenever the connection is lost, until the player leaves for good."""
        is_new = False
        while not self.has_left:
            try:
                await self._dial(session, is_new=is_new)
            except _CrashError:
                is_new = True
            except _LOST:
                is_new = False
            await asyncio.sleep(REDIAL_S)

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", "Accept": "application/x-ndjson, application/json"}

    async def _dial(self, session: aiohttp.ClientSession, *, is_new: bool) -> None:
        path = f"/api/v1/players/{self.name}/requests" + ("?past=true" if is_new else "")
        timeout = aiohttp.ClientTimeout(total=None, sock_read=45)
        async with session.get(path, headers=self._headers, timeout=timeout) as stream:
            async for line in stream.content:
                event = json.loads(line) if line.strip() else {}
                if event.get("event") == "request":
                    await self._answer(session, event["data"])
                if self.has_left:
                    return

    async def _answer(self, session: aiohttp.ClientSession, request: dict[str, Any]) -> None:
        if "answered" in request:
            return
        text = await self._move(request["legalMoves"]) if request["message"] == "PLAY" else "ready"
        if not self.has_left:
            await self.ask(session, f"/players/{self.name}/replies", {"request": request["request"], "text": text})

    async def _move(self, legal_moves: Sequence[str]) -> str:
        if self.habit is Habit.VANISHING:
            self.has_left = True
        elif self.habit is Habit.CRASHING and self._chance.random() < 0.1:
            raise _CrashError
        elif self.habit is Habit.SLOW and self._chance.random() < 0.05:
            await asyncio.sleep(self.slow_s)
        return "(sing loudly)" if self.habit is Habit.ILLEGAL else self._chance.choice(legal_moves)


@asynccontextmanager
async def playing(url: str, students: Sequence[Student]) -> AsyncIterator[aiohttp.ClientSession]:
    """Register and dial in *students* while the block runs; yield the session that they share."""
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(url, connector=connector) as session, asyncio.TaskGroup() as group:
        for student in students:
            status, told = await student.ask(session, "/players", {"name": student.name})
            assert status == 201, told
        tasks = [group.create_task(student.play(session)) for student in students]
        yield session
        for task in tasks:
            task.cancel()
