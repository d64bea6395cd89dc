"""Cores are shared among searching players so that no two have the same one, and matches take slots of them."""

from __future__ import annotations

import asyncio

import pytest

from server.arena.player_processes import PlayerProcesses, shares
from server.links.errors import PlayerStartError
from server.links.own_player import OwnPlayer


@pytest.mark.parametrize(
    ("n_players", "cores", "expected"),
    [
        (0, {0, 1}, []),
        (1, {0, 1}, [{0, 1}]),
        (2, {0, 1}, [{0}, {1}]),
        (2, {1, 4, 6, 7, 9}, [{1, 6, 9}, {4, 7}]),
        (3, {0, 1}, []),
    ],
)
def test_no_core_is_that_of_two_players(n_players: int, cores: set[int], expected: list[set[int]]) -> None:
    assert list(shares([f"p{i}" for i in range(n_players)], cores).values()) == expected


@pytest.mark.parametrize(
    ("spec", "n_slots", "n_searching"),
    [
        ("random", 0, 0),
        ("http://host:1", 0, 0),
        ("greedy", 1, 0),
        ("minimax", 4, 1),
        ("mcts:threads=2", 8, 1),
        ("cmd:cat --threads=2", 4, 1),
    ],
)
def test_a_search_takes_a_core_for_each_of_its_threads(spec: str, n_slots: int, n_searching: int) -> None:
    processes = PlayerProcesses({"a": spec, "b": "random"}, 1)
    assert (processes.n_core_slots(("a", "b", "a")), processes.n_searching) == (2 * n_slots, n_searching)


async def test_where_a_player_does_not_come_up_no_other_is_being_started_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, given_up = asyncio.Event(), list[str]()

    async def started(spec: str, *_: object) -> OwnPlayer:
        if spec == "greedy":
            await begun.wait()
            raise PlayerStartError(spec, "its process ended")
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            given_up.append(spec)
        raise AssertionError("it does not come up")

    monkeypatch.setattr("server.links.own_player.start_own_player", started)
    with pytest.raises(PlayerStartError):
        await PlayerProcesses({"a": "greedy", "b": "minimax"}, 1).__aenter__()
    assert given_up == ["minimax"]
