"""Cores are shared among searching players so that no two have the same one."""

from __future__ import annotations

import pytest

from server.arena.venue import shares


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
