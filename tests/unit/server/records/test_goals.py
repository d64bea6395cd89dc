"""A `random` without a goal has none in a record, but for the key whose readers want whole numbers."""

from __future__ import annotations

import pytest

from server.records.entries import CompletedEntry
from server.records.record import record_of
from tests.kit.server.storage.samples import journal


@pytest.mark.parametrize(
    ("goals", "values"), [((None, 100), [0, 100]), ((100, None), [100, 0]), ((0, 7), [0, 7]), ((None, None), [0, 0])]
)
def test_a_goal_that_is_none_is_zero_in_the_public_key_alone(goals: tuple[int | None, ...], values: list[int]) -> None:
    entries = [entry for entry in journal() if not isinstance(entry, CompletedEntry)]
    record = record_of([*entries[:-1], CompletedEntry(122, 1, goals), entries[-1]])
    found = record.as_json()
    assert (found["goalValues"], found["x-goals"], record.goals) == (values, list(goals), list(goals))
