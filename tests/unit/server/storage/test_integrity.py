"""What a column may hold, and how a row is told of which a value is damaged."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import Any

import pytest
import sqlalchemy as sa

from server.storage.errors import DamagedRowError
from server.storage.integrity import MAX_MS, are_seats, damage, each_sound, report_of, sound
from server.storage.schema import (
    UNREADABLE,
    fixtures,
    interventions,
    matches,
    players,
    records,
    seats,
    tournaments,
    versions,
)

TEXT = {"players": {}, "startClock": 1, "playClock": 1}
PINNED = {"sha256": "5ha", "n_roles": 1}
FIXTURE = {
    "match_id": "t1.1", "game": "tiny", "players": ["p0", "p1"], "seed": 1, "scramble_seed": 2, "round": 1,
    "pairing_id": "pair", "set_id": "t1",
}  # fmt: skip


def without(known: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in known.items() if key != name}


def seated(seat: object) -> dict[str, Any]:
    """Return an order with *seat* for its one role."""
    return {"text": TEXT | {"players": {"x": seat}}}


def begun_from(start: object) -> dict[str, Any]:
    """Return an order of a match that begins at *start*."""
    return {"text": TEXT | {"from": start}}


SOUND: list[tuple[sa.Column[Any], list[Any]]] = [
    (matches.c.id, ["m", ""]),
    (matches.c.status, ["lobby", "queued", "running", "completed", "aborted", "failed"]),
    (matches.c.purpose, [None, "practice", "ladder"]),
    (matches.c.tournament, [None, "cup"]),
    (matches.c.is_hidden, [True, False]),
    (matches.c.goals, [None, [], [100, None]]),
    (matches.c.n_steps, [0, 2**53]),
    (matches.c.created_ms, [0, MAX_MS]),
    (matches.c.ended_ms, [None, MAX_MS]),
    (
        matches.c.order,
        [{"text": TEXT}, {"text": TEXT, "people": {"x": "ann"}}, {"text": TEXT | {"broadcastDelay": ""}}],
    ),
    (matches.c.order, [begun_from(None), begun_from({"match": "m", "step": 0})]),
    (matches.c.order, [seated({"player": "ann"}), seated({"player": "ann", "maxMatches": 1})]),
    (seats.c.goal, [None, -(2**62), 2**62]),
    (versions.c.roles, [[], ["x", "o"]]),
    (players.c.url, [None, "http://a", "https://a"]),
    (players.c.kind, ["http", "dial-in"]),
    (players.c.status, ["ok", "paused"]),
    (players.c.info, [None, {}, [], "", 1, 0.5, True]),
    (tournaments.c.status, ["open", "running", "paused", "over", "cancelled"]),
    (tournaments.c.entry, ["open", "invitation"]),
    (tournaments.c.games, [{}, {"tiny": PINNED}, {"tiny": PINNED | {"n_roles": 8}}]),
    (fixtures.c.body, [FIXTURE, FIXTURE | {"attempt": 2}]),
    (fixtures.c.forfeited, [None, [], ["p0"]]),
    (interventions.c.kind, ["annul"]),
    (records.c.body, [b""]),
    (records.c.signature, [None, {}]),
]
DAMAGED: list[tuple[sa.Column[Any], list[Any]]] = [
    (matches.c.id, [None, 5, b"m"]),
    (matches.c.status, [None, "", "sleeping", 5]),
    (matches.c.purpose, ["fun", 5]),
    (matches.c.tournament, [5]),
    (matches.c.is_hidden, [None, 1, "true"]),
    (matches.c.goals, ["100", {}, [100.0], [True], UNREADABLE]),
    (matches.c.n_steps, [None, -1, 2**53 + 1, 1.0, True, "1"]),
    (matches.c.created_ms, [None, -1, MAX_MS + 1]),
    (matches.c.order, [None, [], "order", {}, {"text": []}, {"text": TEXT, "people": []}]),
    (matches.c.order, [{"text": without(TEXT, name)} for name in TEXT]),
    (matches.c.order, [{"text": TEXT | {name: n}} for name in ("startClock", "playClock") for n in (1.0, True)]),
    (matches.c.order, [{"text": TEXT | {"players": []}}, {"text": TEXT | {"broadcastDelay": 3}}]),
    (matches.c.order, [begun_from({}), begun_from("m"), begun_from({"match": "m"}), begun_from({"step": 0})]),
    (matches.c.order, [begun_from({"match": 1, "step": 0}), begun_from({"match": "m", "step": "0"})]),
    (matches.c.order, [seated(seat) for seat in ("ann", {}, {"player": 5})]),
    (matches.c.order, [seated({"player": "ann", "maxMatches": n}) for n in (0, "1", 1.0, True)]),
    (seats.c.goal, [0.5, "100", True]),
    (versions.c.roles, [None, "xo", [5], [None]]),
    (players.c.url, ["ftp://a", "", 5]),
    (players.c.kind, [None, "own", "human"]),
    (players.c.status, [None, "sleeping"]),
    (players.c.info, [UNREADABLE]),
    (tournaments.c.status, [None, "sleeping"]),
    (tournaments.c.entry, [None, "closed"]),
    (tournaments.c.games, [None, [], {"tiny": "5ha"}, {"tiny": {}}]),
    (tournaments.c.games, [{"tiny": PINNED | {"n_roles": n}} for n in (0, 9, 1.0, True, None)]),
    (tournaments.c.games, [{"tiny": PINNED | {"sha256": None}}]),
    (fixtures.c.body, [None, [], *(without(FIXTURE, name) for name in FIXTURE)]),
    (fixtures.c.body, [FIXTURE | {name: 5} for name in ("match_id", "game", "pairing_id", "set_id")]),
    (fixtures.c.body, [FIXTURE | {name: 1.0} for name in ("seed", "scramble_seed", "round", "attempt")]),
    (fixtures.c.body, [FIXTURE | {"players": [5]}]),
    (fixtures.c.forfeited, ["p0", [5]]),
    (interventions.c.kind, [None, "laugh"]),
    (records.c.body, [None, "text"]),
    (records.c.signature, [[], "signed"]),
]  # fmt: skip


def judged(known: list[tuple[sa.Column[Any], list[Any]]]) -> list[tuple[str, bool]]:
    """Return of each value of *known* what it is, and whether its column may hold it."""
    found = [(column, value) for column, values in known for value in values]
    return [
        (f"{column.table.name}.{column.name} = {value!r}", damage(column.table, {column.name: value}) == "")
        for column, value in found
    ]


def test_what_every_version_of_this_program_writes_is_sound() -> None:
    assert [told for told, is_sound in judged(SOUND) if not is_sound] == []


def test_what_no_version_of_this_program_writes_is_damaged() -> None:
    assert [told for told, is_sound in judged(DAMAGED) if is_sound] == []


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"id": "m"}, ""),
        ({"id": "m", "status": 5, "n_steps": -1}, "status holds 5, n_steps holds -1"),
        ({"order": "x" * 38}, f"order holds '{'x' * 38}'"),
        ({"order": "x" * 39}, f"order holds '{'x' * 36}..."),
        ({"order": UNREADABLE, "goals": None}, "order holds what cannot be read"),
    ],
)
def test_what_is_damaged_is_told_in_short(row: dict[str, Any], told: str) -> None:
    assert damage(matches, row) == told


def test_a_damaged_row_is_named_by_its_key() -> None:
    row = {"match_id": "m", "role": "x", "n_moves": "many"}
    with pytest.raises(DamagedRowError) as caught:
        sound("ggp.sqlite", seats, row)
    assert str(caught.value) == ("the database ggp.sqlite: the row of m x in seats is damaged: n_moves holds 'many'")


def test_a_damaged_row_costs_no_other_and_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    rows: list[dict[str, Any]] = [{"id": "a"}, {"id": 5}, {"id": "c"}]
    with caplog.at_level(logging.ERROR):
        assert each_sound("ggp.sqlite", matches, rows, lambda row: row["id"]) == ["a", "c"]
    assert caplog.messages == ["the database ggp.sqlite: the row of 5 in matches is damaged: id holds 5"]


def test_seats_are_by_role() -> None:
    values: list[object] = [{}, {"x": {"player": "ann"}}, None, [], {"x": None}]
    assert list(map(are_seats, values)) == [True, True, False, False, False]


FINDING = {
    "line": 1, "column": 1, "endLine": 1, "endColumn": 2,
    "severity": "error", "code": "unsafe-variable", "message": "?x is free", "hint": "",
}  # fmt: skip
SPREAD = {"min": 1, "mean": 1.5, "max": 2}
PLAYS = {
    "board": "grid", "jointMoves": SPREAD, "steps": SPREAD, "playsPerSecond": 0.5, "exhaustive": {"states": 5},
}  # fmt: skip
REPORT = {"limit": "time", "diagnostics": [FINDING], "simulation": PLAYS, "another": UNREADABLE}


@pytest.mark.parametrize(
    "report",
    [
        {},
        REPORT,
        {"limit": None, "diagnostics": [], "simulation": None},
        {"simulation": {"steps": {"min": None}, "exhaustive": None}},
        {"simulation": {"playsPerSecond": 1, "steps": {"min": 0, "mean": sys.float_info.max}}},
    ],
)
def test_a_report_has_what_it_has_in_its_shape(report: dict[str, Any]) -> None:
    assert report_of(report) is report


@pytest.mark.parametrize(
    "report",
    [
        None,
        [],
        {"limit": 5},
        {"diagnostics": {}},
        {"diagnostics": [[]]},
        *({"diagnostics": [without(FINDING, name)]} for name in FINDING),
        *({"diagnostics": [FINDING | {name: 0}]} for name in FINDING),
        *({"diagnostics": [FINDING | {name: 1.0}]} for name in FINDING),
        {"simulation": []},
        *({"simulation": {name: "garbage"}} for name in without(PLAYS, "board")),
        {"simulation": {"board": 5}},
        *({"simulation": {"steps": SPREAD | {name: value}}} for name in SPREAD for value in (-1, "1", True)),
        *({"simulation": {"steps": SPREAD | {name: 1.5}}} for name in ("min", "max")),
        *({"simulation": {"jointMoves": SPREAD | {"mean": value}}} for value in (float("nan"), float("inf"), 10**400)),
        {"simulation": {"exhaustive": {"states": 0.5}}},
    ],
)
def test_a_report_with_anything_of_another_shape_is_none(report: object) -> None:
    assert report_of(report) is None
