"""Tournaments as files: CSV that no spreadsheet takes for formulas, and an archive of records."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import logging
import zipfile
from pathlib import Path

import pytest
from aiohttp import ServerDisconnectedError, web

from server.web import exports
from server.web.tournament_view import ShownTournament
from tests.kit.server.api.tournaments import command_cup, order_cup, played_cup
from tests.kit.server.api.whole_server import Client, told


async def lines(client: Client, name: str) -> list[dict[str, str]]:
    async with client.get(f"/tournaments/cup/{name}.csv") as answer:
        assert (answer.status, answer.content_type) == (200, "text/csv")
        assert answer.headers["Content-Disposition"] == f'attachment; filename="cup-{name}.csv"'
        return list(csv.DictReader(io.StringIO((await answer.text(encoding="utf-8-sig")), newline="")))


async def test_standings_and_results_are_sent_as_csv(client: Client) -> None:
    formula = {"player": "random", "name": "=1+1"}
    found = await played_cup(client, players=["legal", formula])
    standings = await lines(client, "standings")
    told_standings = {("'" if row["player"] == "=1+1" else "") + row["player"]: row for row in found["standings"]}
    assert [row["player"] for row in standings] == list(told_standings)
    assert "'=1+1" in told_standings
    assert [int(row["errors"]) for row in standings] == [row["errors"] for row in found["standings"]]
    entered_by = {one["name"]: one["enteredBy"] for one in found["entrants"]}
    assert [row["entered_by"] for row in standings] == [entered_by[row["player"]] for row in found["standings"]]
    results = await lines(client, "results")
    assert [(row["match"], row["counts"], row["status"]) for row in results] == [
        (one["match"], "yes", "completed") for one in found["matches"] for _ in one["players"]
    ]
    assert [int(row["goal"]) for row in results] == [goal for one in found["matches"] for goal in one["goals"]]


async def test_annulled_matches_are_marked_in_the_results(client: Client) -> None:
    found = await played_cup(client)
    await command_cup(client, f"matches/{found['matches'][0]['match']}/annul", reason="a draught")
    first = (await lines(client, "results"))[0]
    assert (first["counts"], first["note"]) == ("no", "annulled by local: a draught")


async def test_an_open_tournament_has_empty_files(client: Client) -> None:
    await order_cup(client)
    assert await lines(client, "standings") == []
    assert await lines(client, "results") == []


async def test_the_records_are_sent_as_an_archive_without_those_of_other_matches(client: Client) -> None:
    other = {"game": "tictactoe", "players": {"x": "human", "o": "legal"}, "tournament": "cup"}
    await told(await client.post("/api/v1/matches", json={"startClock": 5, "playClock": 5} | other), 201)
    found = await played_cup(client)
    async with client.get("/tournaments/cup/records.zip") as answer:
        assert (answer.status, answer.content_type) == (200, "application/zip")
        archive = zipfile.ZipFile(io.BytesIO(await answer.read()))
    records = [json.loads(archive.read(name)) for name in archive.namelist()]
    assert sorted(record["matchId"] for record in records) == sorted(one["match"] for one in found["matches"])
    assert {record["isCompleted"] for record in records} == {True}


async def test_a_client_that_leaves_while_records_are_packed_is_no_failure_of_the_server(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def pack(request: web.Request, _shown: ShownTournament, path: Path) -> None:
        assert request.transport is not None
        request.transport.close()
        await asyncio.to_thread(path.write_bytes, b"an archive")

    await order_cup(client)
    monkeypatch.setattr(exports, "_pack", pack)
    with pytest.raises(ServerDisconnectedError):
        await client.get("/tournaments/cup/records.zip")
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
