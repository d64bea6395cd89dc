"""What tests of pages share: a client of a whole server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.kit.server.api.whole_server import Client, whole_server


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    """Return a client of a server without accounts."""
    async with whole_server(tmp_path) as (found, _):
        yield found
