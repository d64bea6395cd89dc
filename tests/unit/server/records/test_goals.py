"""What records tell of the roles: goals, which of them players have, and how often one erred."""

from __future__ import annotations

from typing import Any

import pytest

from server.records.entries import CompletedEntry
from server.records.record import n_errors, played_places, record_of
from tests.kit.server.storage.samples import journal


@pytest.mark.parametrize(
    ("goals", "values"), [((None, 100), [0, 100]), ((100, None), [100, 0]), ((0, 7), [0, 7]), ((None, None), [0, 0])]
)
def test_a_goal_that_is_none_is_zero_in_the_public_key_alone(goals: tuple[int | None, ...], values: list[int]) -> None:
    entries = [entry for entry in journal() if not isinstance(entry, CompletedEntry)]
    record = record_of([*entries[:-1], CompletedEntry(122, 1, goals), entries[-1]])
    found = record.as_json()
    assert (found["goalValues"], found["x-goals"], record.goals) == (values, list(goals), list(goals))


@pytest.mark.parametrize(
    ("raw", "places"),
    [
        ({"x-gdl2": True, "x-roles": ["x", "random", "o"]}, [0, 2]),
        ({"x-gdl2": False, "x-roles": ["x", "random", "o"]}, [0, 1, 2]),
        ({}, [0, 1, 2]),
    ],
)
def test_players_have_the_roles_that_chance_has_not(raw: dict[str, Any], places: list[int]) -> None:
    assert played_places(raw, 3) == places


@pytest.mark.parametrize(
    ("raw", "counted"),
    [
        ({"errors": [["", "TO"], ["IL a", "TO"], ["", ""]]}, [1, 2, 0]),
        ({"x-failures": [["", "it fell"]]}, [0, 1, 0]),
        ({"errors": [["", "TO"]], "x-failures": [["", "it fell"], ["it fell", ""]]}, [1, 1, 0]),
        ({"errors": [["TO"]]}, [1, 0, 0]),
        ({}, [0, 0, 0]),
    ],
)
def test_a_step_in_which_a_role_erred_counts_once(raw: dict[str, Any], counted: list[int]) -> None:
    assert [n_errors(raw, place) for place in range(3)] == counted
