"""Results by the versions of players."""

from __future__ import annotations

from dataclasses import replace

import pytest

from server.storage.results import by_version
from server.storage.rows import RatedResult
from server.tournament.fixtures import MatchResult

RESULT = RatedResult(MatchResult("tiny", ("mine", "legal"), (100, 0), (0, 1), "m"), 5)


@pytest.mark.parametrize(
    ("versions", "current", "called"),
    [
        ((), {}, ("mine", "legal")),
        (("1.0", None), {}, ("mine", "legal")),
        (("1.0", None), {"mine": "1.0"}, ("mine", "legal")),
        (("1.0", None), {"mine": "2.0"}, ("mine 1.0", "legal")),
        (("1.0", None), {"mine": None}, ("mine 1.0", "legal")),
        ((), {"mine": "2.0"}, ("mine before", "legal")),
        ((), {"mine": None, "legal": None}, ("mine", "legal")),
        (("1.0", "0.5"), {"mine": "2.0", "legal": "3.0"}, ("mine 1.0", "legal 0.5")),
    ],
)
def test_an_older_version_of_a_registered_player_is_another_player(
    versions: tuple[str | None, ...], current: dict[str, str | None], called: tuple[str, str]
) -> None:
    found = replace(RESULT, versions=versions)
    renamed = replace(found, result=replace(found.result, players=called), names=("mine", "legal"))
    assert by_version([found, found], current) == [renamed, renamed]
