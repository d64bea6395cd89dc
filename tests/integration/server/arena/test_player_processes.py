"""The processes of players: each that searches has cores of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping

import pytest

from server.arena.player_processes import PlayerProcesses
from tests.kit.server.processes import children_of

HERE = frozenset(os.sched_getaffinity(0))


async def affinities(players: Mapping[str, str]) -> list[set[int]]:
    """Return the cores of the processes of *players*, in the order of their starts, and of all that these started."""
    before = children_of(os.getpid())
    async with PlayerProcesses(players, 1):
        started = sorted(children_of(os.getpid()) - before)
        family = [(each, *children_of(each)) for each in started]
        return [set().union(*(os.sched_getaffinity(one) for one in members)) for members in family]


@pytest.mark.skipif(len(HERE) < 2, reason="needs two cores")
async def test_two_players_that_search_share_no_core() -> None:
    first, second = await affinities({"one": "minimax", "other": "mcts", "stock": "legal"})
    assert (first & second, first | second) == (set(), set(HERE))


async def test_a_player_that_hardly_thinks_runs_anywhere() -> None:
    assert await affinities({"light": "greedy"}) == [set(HERE)]


@pytest.mark.exhaustive
async def test_more_searching_players_than_cores_run_anywhere() -> None:
    players = {f"p{i}": "minimax" for i in range(len(HERE) + 1)} if len(HERE) <= 4 else {}
    assert all(cores == set(HERE) for cores in await affinities(players))
