"""Game managers that share a PostgreSQL database, come and go, and are asked whatever it is by chance."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import AsyncIterator, Coroutine, Generator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, Final, TypeVar, cast

import sqlalchemy as sa
from aiohttp.test_utils import TestClient, TestServer
from sqlalchemy.engine import make_url

from server.access.control import AccessControl
from server.access.settings import AccessSettings
from server.app import Watch, make_app
from server.app_keys import FEEDS
from server.hosting.game_manager import GameManager
from server.hosting.settings import GameManagerSettings
from server.spectating.fanout import SharedEvent
from server.spectating.stream import public_events
from server.storage.accounts import TokenStore
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.match_changes import match_values, seat_values, summary_of
from server.storage.rows import MatchStatus
from server.storage.schema import events, matches, seats
from tests.kit.polling import until
from tests.kit.server.api.whole_server import Client, manager_of
from tests.kit.server.postgresql import execute

T = TypeVar("T")
SETTINGS: Final = GameManagerSettings(max_running=6, lease_s=2.0, retries_s=(0.05, 0.1, 0.2, 0.4))
_END_SOME: Final = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < {share}"
)
_OWNER: Final[ContextVar[object]] = ContextVar("owner", default=None)


@dataclass(eq=False)
class Member:
    """A game manager with its database, a client of its API, and the tasks that work for it."""

    tasks: set[asyncio.Task[Any]]
    database: Database
    client: Client

    @property
    def manager(self) -> GameManager:
        """The game manager."""
        return manager_of(self.client)

    async def kill(self) -> None:
        """End all that works for the manager, as it stands; connections are closed, as a system does."""
        tasks = [task for task in self.tasks if not _closes_connection(task)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _closes_connection(task: asyncio.Task[Any]) -> bool:
    code: CodeType | None = getattr(task.get_coro(), "cr_code", None)
    return code is not None and "sqlalchemy" in code.co_filename


@dataclass
class SharedLife:
    """Managers on the database at *address*, what was ordered of them, and what viewers of the matches saw."""

    address: str
    chance: random.Random
    members: list[Member] = field(default_factory=list)
    matches: set[str] = field(default_factory=set)
    cups: list[str] = field(default_factory=list)
    seen: dict[str, list[SharedEvent]] = field(default_factory=dict)
    watching: list[asyncio.Task[None]] = field(default_factory=list)
    tasks: defaultdict[object, set[asyncio.Task[Any]]] = field(default_factory=lambda: defaultdict(set))

    @property
    def member(self) -> Member:
        """Any of the managers."""
        return self.chance.choice(self.members)

    async def begin(self) -> None:
        """Let another manager come."""
        owner = object()
        token = _OWNER.set(owner)
        try:
            database = await Database.open(self.address, wait_s=1.0)
            manager = GameManager(database, SETTINGS)
            await manager.start()
            client = TestClient(
                TestServer(make_app(manager, AccessControl(AccessSettings(), TokenStore(database)), Watch()))
            )
            await client.start_server()
        finally:
            _OWNER.reset(token)
        self.members.append(Member(self.tasks[owner], database, client))

    async def end(self, member: Member, *, is_killed: bool = False) -> None:
        """Have a manager end, at once or properly, so that what it plays is parked."""
        self.members.remove(member)
        await (member.kill() if is_killed else member.manager.close())
        await member.client.close()
        await member.database.close()

    async def ask(self, method: str, path: str, **body: Any) -> tuple[int, Any]:
        """Return status and JSON of the answer of any manager, which is none of a fault but of the database."""
        async with self.member.client.request(method, path, json=body or None) as answer:
            told: Any = None if answer.status == 204 else await answer.json()
            assert answer.status < 500 or told["error"]["code"] == "storage_failed", (method, path, body, told)
            return answer.status, told

    async def look(self, path: str) -> None:
        """Look at a page of any manager."""
        async with self.member.client.get(path) as answer:
            assert answer.status in (200, 503), (path, await answer.text())

    def watch(self, match_id: str) -> None:
        """Follow a match to its end as a viewer does, at one manager after the other."""
        self.watching.append(asyncio.create_task(self._watch(match_id, self.seen.setdefault(match_id, []))))

    async def _watch(self, match_id: str, seen: list[SharedEvent]) -> None:
        while not seen or seen[-1].kind != "closed":
            app = self.member.client.app
            assert app is not None
            after = int(seen[-1].event_id) if seen else -1
            with suppress(StorageError):
                async with aclosing(app[FEEDS].follow(match_id, after)) as following:
                    async for found in following:
                        seen += found
                        if self.chance.random() < 0.1:
                            break
            await asyncio.sleep(0)

    async def break_connections(self, share: float) -> None:
        """Have PostgreSQL end that share of its connections."""
        await asyncio.to_thread(execute, make_url(self.address), _END_SOME.format(share=share))

    def owned(
        self, loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T] | Generator[Any, None, T], **how: Any
    ) -> asyncio.Task[T]:
        """Make a task, and remember for which manager it works."""
        task = asyncio.Task(cast("Coroutine[Any, Any, T]", work), loop=loop, **how)  # all that a server starts
        tasks = self.tasks[_OWNER.get()]
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return task


@asynccontextmanager
async def shared_life(address: str, chance: random.Random, n_managers: int = 2) -> AsyncIterator[SharedLife]:
    """Yield managers on the database at *address*; those that are there in the end are closed."""
    life = SharedLife(address, chance)
    asyncio.get_running_loop().set_task_factory(life.owned)
    try:
        for _ in range(n_managers):
            await life.begin()
        yield life
    finally:
        for task in life.watching:
            task.cancel()
        for member in tuple(life.members):
            await life.end(member)


async def check_matches(life: SharedLife) -> None:
    """Check that no match is lost, that rows and seats tell what the records do, and viewers saw all of it."""
    manager, database = life.member.manager, life.member.database
    rows = await database.rows(sa.select(matches))
    sat = {(seat["match_id"], seat["role"]): seat for seat in await database.rows(sa.select(seats))}
    assert life.matches <= {row["id"] for row in rows}
    assert await database.scalars(sa.select(events.c.match_id)) == []
    for row in rows:
        match_id = row["id"]
        if row["started_ms"] is None:
            assert (row["status"], row["holder"]) == (MatchStatus.ABORTED, None)
            continue
        summary = summary_of(await manager.journals.entries(match_id))
        _check_columns(row, match_values(match_id, summary))
        for values in seat_values(match_id, summary):
            _check_columns(sat[match_id, values["of_role"]], values)
    for match_id, seen in life.seen.items():
        told = [(event.event_id, event.kind, event.data) for event in seen]
        assert told == [(str(one.number), one.kind, one.data) for one in await public_events(manager, match_id)]


def _check_columns(row: sa.RowMapping, values: Mapping[str, Any]) -> None:
    columns = values.keys() & row.keys()
    assert {name: row[name] for name in columns} == {name: values[name] for name in columns}


async def check_rest(life: SharedLife) -> None:
    """Check that nothing waits, and no manager plays."""
    await until(lambda: not any(member.manager.n_running() for member in life.members))
    manager = life.member.manager
    assert (await manager.queue.length(), await manager.matches.busy(), await manager.queue.playing()) == (0, {}, [])
