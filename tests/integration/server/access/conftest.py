"""The server that tests of access ask."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.kit.server.access.sites import Site, whole_site


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    """Return a whole server with accounts."""
    async with whole_site(tmp_path) as found:
        yield found
