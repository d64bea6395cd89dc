"""A registry over a database of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.registry.registry import Registry
from server.storage.accounts import PlayerStore
from server.storage.database import Database
from tests.kit.server.clocks import HandClock
from tests.kit.server.databases import new_sqlite


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[Database]:
    """Return an open database of the kind that needs no server of its own."""
    opened = await new_sqlite(tmp_path)
    yield opened
    await opened.close()


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def changes() -> list[str]:
    """Return what grows each time that a player of `registry` may be free."""
    return []


@pytest.fixture
def registry(database: Database, clock: HandClock, changes: list[str]) -> Registry:
    return Registry(PlayerStore(database), clock=clock, on_change=lambda: changes.append("change"))
