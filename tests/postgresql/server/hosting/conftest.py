"""What tests of game managers share: most matches are of rules that are known and trusted, as those of the library are.

So no process is started for a match to read its rules, and none to play by them, where a test is about neither.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gdl.language.rules import read_rules, rules_sha256
from server.hosting import referees
from server.hosting.engine_process import outline_here
from server.hosting.game_finder import new_version
from server.storage.database import Database
from server.storage.games import UNNAMED, GameStore
from tests.kit.server.plays import TWO_STEPS


@pytest.fixture
async def database(database: Database) -> Database:
    """Return an open database of each kind in turn, which knows the rules of most matches."""
    await GameStore(database).put(new_version(UNNAMED, outline_here(read_rules(TWO_STEPS)), ""))
    return database


@pytest.fixture(autouse=True)
def trust(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the rules of most matches taken for those of a game of the library."""

    def hashes() -> Mapping[str, str]:
        return {"two steps": rules_sha256(TWO_STEPS)}

    monkeypatch.setattr(referees, "library_hashes", hashes)
