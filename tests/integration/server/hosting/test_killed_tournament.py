"""A tournament outlives the game manager: killed in any round, it ends as if it had not been."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.storage.database import Database
from server.storage.tournaments import StoredTournament, TournamentStore
from tests.kit.polling import until
from tests.kit.server.hosting.hosts import hosting
from tests.kit.server.hosting.tournaments import begin, outcome, until_over
from tests.kit.server.peers import listening, replying


async def over(address: str) -> StoredTournament:
    """Return the tournament once other processes have played it."""
    database = await Database.open(address, exclusive=False)
    try:
        return await until_over(TournamentStore(database))
    finally:
        await database.close()


async def until_round(address: str, number: int) -> None:
    """Return once a match of a round is ordered."""
    database = await Database.open(address, exclusive=False)
    store = TournamentStore(database)

    async def is_ordered() -> bool:
        found = await store.read("cup")
        assert found is not None
        return any(one.match.round >= number and one.status is not None for one in found.fixtures)

    try:
        await until(is_ordered, 120)
    finally:
        await database.close()


async def begun(address: str, player: str) -> None:
    """Begin a tournament: the seeds of its matches decide what comes of illegal moves, and so the results."""
    database = await Database.open(address)
    await begin(database, "legal", f"{player}/a", "legal", f"{player}/b")
    await database.close()


@pytest.mark.exhaustive
async def test_a_tournament_of_a_killed_manager_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    addresses = [f"sqlite:///{tmp_path}/{name}.sqlite" for name in ("undisturbed", "killed")]
    async with listening(replying(lambda _: "(mark nowhere)")) as player:
        for address in addresses:
            await begun(address, player)
        async with hosting(addresses[0]):
            expected = await over(addresses[0])
        for number in (1, 2):
            async with hosting(addresses[1]):
                await until_round(addresses[1], number)
        async with hosting(addresses[1]):
            found = await over(addresses[1])
    assert [one.match for one in found.fixtures] == [one.match for one in expected.fixtures]
    assert max(one.match.round for one in found.fixtures) == 3
    assert len(found.fixtures) == 3 * 2 * 2
    assert outcome(found) == outcome(expected)
    assert len({row["errors"] for row in outcome(found)}) > 1
