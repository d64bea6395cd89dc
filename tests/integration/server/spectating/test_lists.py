"""What lists show of a match: all that is public of its row, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from server.principal import Principal, Role
from server.registry.queueing import Hindrance, WaitReason
from server.spectating.overview import listed
from server.storage.rows import MatchPurpose, MatchRow, MatchStatus
from tests.kit.server.scripted import START_MS
from tests.kit.server.spectating.written_match import MATCH, WrittenMatch

TEXT: Final[dict[str, Any]] = {"players": {"a": {}, "b": {}}, "startClock": 10, "playClock": 5}
SCRAMBLED: Final = {"text": TEXT | {"scramble": True}, "people": {"a": "zoe"}}
ROW: Final = MatchRow(MATCH, "turns", "5ha", {"text": TEXT}, START_MS - 1, n_steps=2, n_errors=1)
ALWAYS: Final = {
    "id": MATCH, "status": "queued", "steps": 2, "errors": 1, "startClock": 10, "playClock": 5, "isHidden": False,
    "created": START_MS - 1,
}  # fmt: skip
WHO: Final = {"game": "turns", "players": {"a": "player-0", "b": "player-1"}}
FAILURE: Final = "Error: in (at 3)"


def order(**changes: Any) -> dict[str, Any]:
    return {"order": {"text": TEXT | changes}}


CASES: Final[dict[str, tuple[dict[str, Any], dict[str, Any]]]] = {
    "waits": ({}, ALWAYS | WHO),
    "lobby": ({"status": MatchStatus.LOBBY}, ALWAYS | WHO | {"status": "lobby", "missing": []}),
    "played": (
        {"status": MatchStatus.RUNNING, "started_ms": 7, "tournament": "cup", "purpose": MatchPurpose.PRACTICE},
        ALWAYS | WHO | {"status": "running", "started": 7, "tournament": "cup", "purpose": "practice"},
    ),
    "failed": (
        {"status": MatchStatus.FAILED, "ended_ms": 9, "abort_reason": FAILURE},
        ALWAYS | WHO | {"status": "failed", "ended": 9, "reason": FAILURE},
    ),
    "damaged": ({"damage": "order"}, ALWAYS | {"damage": "order"}),
    "late": (
        {"status": MatchStatus.RUNNING} | order(broadcastDelay="1 step"),
        ALWAYS | WHO | {"status": "running", "steps": 1, "errors": 0, "broadcastDelay": "1 step"},
    ),
    "from a step": (
        order(**{"from": {"match": "m0", "step": "3"}}), ALWAYS | WHO | {"from": {"match": "m0", "step": 3}},
    ),
    "hidden": ({"is_hidden": True}, ALWAYS | WHO | {"isHidden": True}),
    "scrambled": (
        {"is_hidden": True, "started_ms": 7, "order": SCRAMBLED}, ALWAYS | {"isHidden": True, "started": 7},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
async def test_a_line_has_what_is_public_of_a_match(played: WrittenMatch, case: str) -> None:
    values, line = CASES[case]
    assert await listed(played, [replace(ROW, **values)]) == [line]


async def test_a_line_has_the_result_of_each_role(played: WrittenMatch) -> None:
    await played.finish()
    row = await played.matches.find(MATCH)
    assert row is not None
    (line,) = await listed(played, [row])
    assert line == ALWAYS | WHO | {
        "status": "completed", "started": row.started_ms, "ended": row.ended_ms, "result": {"a": 100, "b": 0},
        "startClock": row.order["text"]["startClock"], "playClock": row.order["text"]["playClock"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("who", "names"),
    [(None, {}), (Principal("anonymous", Role.SPECTATOR), {}), (Principal("s", Role.SPECTATOR), {"a": "zoe"})],
)
async def test_names_of_people_are_listed_for_those_with_a_token(
    played: WrittenMatch, who: Principal | None, names: dict[str, str]
) -> None:
    row = replace(ROW, order={"text": TEXT, "people": {"a": "zoe"}})
    assert await listed(played, [row], who) == [ALWAYS | WHO | ({"people": names} if names else {})]


async def test_roles_of_people_are_not_listed_where_they_tell_the_game(played: WrittenMatch) -> None:
    row = replace(ROW, is_hidden=True, order=SCRAMBLED)
    (line,) = await listed(played, [row], Principal("ada", Role.ADMIN))
    assert "people" not in line


@pytest.mark.parametrize(
    ("status", "reason", "waits_for"),
    [
        (MatchStatus.QUEUED, WaitReason(), {"waitsFor": "core"}),
        (
            MatchStatus.QUEUED,
            WaitReason({"deep": Hindrance.NOT_CONNECTED}),
            {"waitsFor": "players", "unavailable": {"deep": Hindrance.NOT_CONNECTED}},
        ),
        (MatchStatus.RUNNING, WaitReason(), {}),
    ],
)
async def test_a_line_says_what_a_match_of_the_queue_waits_for(
    played: WrittenMatch, status: MatchStatus, reason: WaitReason, waits_for: dict[str, Any]
) -> None:
    played.wait_reasons = {MATCH: reason}
    assert await listed(played, [replace(ROW, status=status)]) == [ALWAYS | WHO | {"status": status} | waits_for]
