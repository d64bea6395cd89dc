"""Messages between game managers reach those that listen, whole, once and in order, also after the database failed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sqlalchemy.engine import make_url

from server.storage.database import Database
from server.storage.notifications import MAX_PAYLOAD, Notifications
from tests.kit.polling import until
from tests.kit.server.postgresql import execute

END_ALL = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ggp notifications'"


class Manager:
    """A listener called *name*: `taken` is what came, `n_listening` how often it began to listen."""

    def __init__(self, database: Database, name: str) -> None:
        self.taken: list[tuple[str, dict[str, Any]]] = []
        self.n_listening = 0
        self.bus = Notifications(
            database, name, lambda sender, message: self.taken.append((sender, message)), self._note
        )

    def _note(self) -> None:
        self.n_listening += 1


@asynccontextmanager
async def managers(address: str, *names: str) -> AsyncIterator[list[Manager]]:
    database = await Database.open(address)
    found = [Manager(database, name) for name in names]
    running = [asyncio.create_task(manager.bus.run()) for manager in found]
    try:
        await until(lambda: all(manager.n_listening for manager in found))
        yield found
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await database.close()


async def test_a_message_reaches_all_others_or_the_one_that_it_is_for(postgresql_address: str) -> None:
    async with managers(postgresql_address, "ann", "bob", "cid") as (ann, bob, cid):
        ann.bus.send({"n": 1})
        ann.bus.send({"n": 2}, "cid")
        bob.bus.send({"n": 3})
        await until(lambda: len(cid.taken) == 3 and ann.taken and bob.taken)
    assert ann.taken == [("bob", {"n": 3})]
    assert bob.taken == [("ann", {"n": 1})]
    assert [each for each in cid.taken if each[0] == "ann"] == [("ann", {"n": 1}), ("ann", {"n": 2})]


@pytest.mark.parametrize("text", ["x" * (5 * MAX_PAYLOAD), "ä\0\n\ud800 €" * MAX_PAYLOAD, "x" * MAX_PAYLOAD, ""])
async def test_a_message_has_any_length_and_characters(postgresql_address: str, text: str) -> None:
    async with managers(postgresql_address, "ann", "bob") as (ann, bob):
        for number in range(3):
            ann.bus.send({"text": text, "n": number}, "bob")
        await until(lambda: len(bob.taken) == 3)
    assert bob.taken == [("ann", {"text": text, "n": number}) for number in range(3)]


async def test_who_was_cut_off_listens_again(postgresql_address: str) -> None:
    async with managers(postgresql_address, "ann", "bob") as (ann, bob):
        await asyncio.to_thread(execute, make_url(postgresql_address), END_ALL)
        await until(lambda: ann.n_listening == bob.n_listening == 2)
        ann.bus.send({"n": 1})
        await until(lambda: bob.taken == [("ann", {"n": 1})])


async def test_what_makes_no_sense_is_passed_over(postgresql_address: str, caplog: pytest.LogCaptureFixture) -> None:
    async with managers(postgresql_address, "ann", "bob") as (ann, bob):
        bob.bus._on_message = _failing_at_first(bob.taken)
        ann.bus.send({"n": 1})
        ann.bus.send({"n": 2})
        await until(lambda: bob.taken == [("ann", {"n": 2})])
    assert "makes no sense" in caplog.text


def _failing_at_first(taken: list[tuple[str, dict[str, Any]]]) -> Callable[[str, dict[str, Any]], None]:
    def take(sender: str, message: dict[str, Any]) -> None:
        if message["n"] == 1:
            raise KeyError("kind")
        taken.append((sender, message))

    return take


async def test_the_clock_is_that_of_the_database(postgresql_address: str) -> None:
    async with managers(postgresql_address, "ann", "bob") as (ann, bob):
        stamps = [await manager.bus.stamp() for manager in (ann, bob, ann)]
    assert stamps == sorted(set(stamps))
