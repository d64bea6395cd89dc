"""What tests of spectators share: a match that was played, in a database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.kit.server.scripted import TURNS_MOVES, turns
from tests.kit.server.spectating.written_match import WrittenMatch, written_match


@pytest.fixture
async def played(tmp_path: Path) -> AsyncIterator[WrittenMatch]:
    """Return a match of turns, with its whole journal."""
    async with written_match(tmp_path, turns(), TURNS_MOVES) as found:
        yield found
