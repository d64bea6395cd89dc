"""What came of matches of players that dialled in: who made the moves, the ladder, ratings, and what was published."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import sqlalchemy as sa

from server.spectating.public_record import public_record
from server.spectating.publishing import publication
from server.storage.rows import MatchPurpose, MatchStatus
from server.storage.schema import matches, seats
from server.tournament.fixtures import MatchResult
from server.tournament.ratings import fit_ratings
from tests.kit.server.hosting.connected_lives import ConnectedLife


async def check_matches(life: ConnectedLife, given_up: str) -> None:
    """Check what came of the matches; *given_up* tells of those that were not published to their end."""
    rows = {row["id"]: row for row in await life.database.rows(sa.select(matches))}
    seated: defaultdict[str, list[sa.RowMapping]] = defaultdict(list)
    for seat in await life.database.rows(sa.select(seats).order_by(seats.c.match_id, seats.c.position)):
        seated[seat["match_id"]].append(seat)
    records = {match_id: await public_record(life.manager, match_id) for match_id in rows}
    assert life.matches <= rows.keys()
    published = {update["matchId"]: update for update in life.receiver.updates}
    for match_id, record in records.items():
        if record.get("states") and match_id not in given_up:
            told = publication(record, published[match_id]["gameMetaURL"])
            assert published[match_id] == json.loads(json.dumps(told))
    assert life.receiver.refusals == []
    for (name, request), move in life.taken.items():
        match_id, number, _, *nth = request.split(":")
        if rows[match_id]["epoch"] == 1 and rows[match_id]["status"] == MatchStatus.COMPLETED:
            places = [one["position"] for one in seated[match_id] if one["player"] == name]
            place = places[int(nth[0]) - 1 if nth else 0]
            assert records[match_id]["x-origins"][int(number)][place] == "player", (name, request, move)
    _check_meetings([row for row in rows.values() if row["purpose"] == MatchPurpose.LADDER], seated)
    over = [row for row in rows.values() if row["status"] == MatchStatus.COMPLETED]
    results = [_result_of(row, seated[row["id"]]) for row in sorted(over, key=lambda row: (row["ended_ms"], row["id"]))]
    assert (await life.manager.ladder.ratings()).players == fit_ratings(results).players
    queues = [life.manager.request_queues.of_player(name) for name in life.players]
    assert [(queue.waiting, [key for key in rows if queue.keeps(key)]) for queue in queues] == [((), [])] * len(queues)


def _result_of(row: sa.RowMapping, seated: list[sa.RowMapping]) -> MatchResult:
    names, goals, n_errors = zip(*((one["player"], one["goal"], one["n_errors"]) for one in seated), strict=True)
    return MatchResult(row["game"], names, goals, n_errors, row["id"])


def _check_meetings(rows: list[sa.RowMapping], seated: dict[str, list[sa.RowMapping]]) -> None:
    """Check that in the ladder each of two had each seat once, and no other meeting of theirs was open meanwhile."""
    meetings: defaultdict[Any, list[tuple[str, ...]]] = defaultdict(list)
    spans: defaultdict[str, list[tuple[int, int, Any]]] = defaultdict(list)
    for row in rows:
        names, seed = tuple(one["player"] for one in seated[row["id"]]), row["order"]["seed"]
        meetings[seed].append(names)
        for name in names:
            spans[name].append((row["created_ms"], row["ended_ms"], seed))
    assert [met for met in meetings.values() if len(met) != 2 or met[0] != met[1][::-1] or met[0] == met[1]] == []
    for found in spans.values():
        assert [a for a in found for b in found if a[2] != b[2] and a[0] < b[0] < a[1]] == []
