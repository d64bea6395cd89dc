"""Nothing that was answered is lost: a game manager that is killed at any moment goes on where it was."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

from server.hosting.order import MatchRequest
from tests.kit.exhaustive import IS_EXHAUSTIVE, sampled
from tests.kit.server.hosting.hosts import (
    FOLDER,
    all_over,
    came_of,
    hosting,
    kept,
    n_resumed,
    ordered,
    scripted,
    undisturbed,
    until_all_over,
    until_steps,
)
from tests.kit.server.peers import listening

N_MATCHES = 50 if IS_EXHAUSTIVE else 10
N_KILLS = 8


async def test_matches_of_a_host_that_is_killed_end_as_if_it_had_not_been(tmp_path: Path) -> None:
    chance, killed = random.Random(5), f"sqlite:///{tmp_path}/killed.sqlite"
    async with listening(scripted) as players:
        expected = await undisturbed(f"sqlite:///{tmp_path}/undisturbed.sqlite", players, N_MATCHES)
        match_ids = await ordered(killed, players, N_MATCHES)
        n_kills = 0
        while n_kills < N_KILLS and not await all_over(killed, match_ids):
            async with hosting(killed):
                await asyncio.sleep(chance.uniform(0.05, 0.6))
            n_kills += 1
        async with hosting(killed):
            await until_all_over(killed, match_ids)
        found = await came_of(killed, match_ids)
        assert await n_resumed(killed, match_ids) > N_MATCHES // 2
    for seed in range(N_MATCHES):
        assert found[seed] == expected[seed], f"match {seed}"


async def test_players_of_ours_that_died_with_the_host_are_brought_to_the_step_of_their_match(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/own.sqlite"
    rules = (FOLDER / "long.kif").read_text("utf-8")
    order = MatchRequest.model_validate({"rules": rules, "players": {"left": "mcts:playouts=20"}, "playClock": 60})
    async with hosting(address):
        pass  # it makes the tables
    match_ids = await kept(address, [order, order])
    for n_steps in sampled((3, 6), 3):
        async with hosting(address):
            await until_steps(address, match_ids, n_steps)
    async with hosting(address):
        await until_all_over(address, match_ids)
    outcomes = await came_of(address, match_ids)
    assert [outcome["errors"] for outcome in outcomes] == [[["", ""]] * 13] * 2
