"""Several game managers on one database: each match has one of them at a time, and another one when that dies."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from tests.kit.exhaustive import IS_EXHAUSTIVE
from tests.kit.polling import until
from tests.kit.server.hosting.hosts import (
    Host,
    came_of,
    held,
    hosting,
    n_resumed,
    ordered,
    scripted,
    undisturbed,
    until_all_over,
)
from tests.kit.server.peers import listening

N_MATCHES = 30 if IS_EXHAUSTIVE else 16
LEASE_S = 1.5


async def kill_busiest(address: str, match_ids: Sequence[str], hosts: list[Host]) -> None:
    """Kill the host that plays the most matches, once one plays some."""

    async def busy() -> Counter[str] | None:
        found = await held(address, match_ids)
        return found if max(found.values(), default=0) >= 3 else None

    playing = await until(busy)
    busiest = max(hosts, key=lambda host: playing[host.holder])
    hosts.remove(busiest)
    await busiest.kill()


async def test_matches_of_a_holder_that_dies_go_on_elsewhere(postgresql_address: str, tmp_path: Path) -> None:
    address = postgresql_address
    async with listening(scripted) as players, AsyncExitStack() as stack:
        expected = await undisturbed(f"sqlite:///{tmp_path}/undisturbed.sqlite", players, N_MATCHES)
        hosts = [await stack.enter_async_context(hosting(address, LEASE_S)) for _ in range(3)]
        match_ids = await ordered(address, players, N_MATCHES)
        await kill_busiest(address, match_ids, hosts)
        await asyncio.sleep(LEASE_S)
        await kill_busiest(address, match_ids, hosts)
        await until_all_over(address, match_ids)
        found = await came_of(address, match_ids)
        assert await n_resumed(address, match_ids) > N_MATCHES // 4
    for seed in range(N_MATCHES):
        assert found[seed] == expected[seed], f"match {seed}"
