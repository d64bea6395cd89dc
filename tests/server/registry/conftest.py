"""A registry over a database of its own."""

from __future__ import annotations

import pytest

from server.links.mailbox import Mailboxes
from server.match.clock import SystemClock
from server.registry.registry import Registry
from server.storage.database import Database
from server.storage.players import PlayerStore


class HandClock(SystemClock):
    """A clock that somebody winds."""

    ms = 1_000

    def wall_ms(self) -> int:
        return self.ms


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def registry(database: Database, clock: HandClock) -> Registry:
    return Registry(PlayerStore(database), Mailboxes(clock), clock=clock)
