"""One damaged row costs one match: every page, list, feed and export goes on with the others."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import re
import shutil
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from aiohttp.test_utils import TestClient, TestServer

from server.access.control import AccessControl
from server.access.settings import AccessSettings, Limits
from server.app import Watch, make_app
from server.app_keys import OVERVIEW
from server.hosting.game_manager import GameManager
from server.hosting.order import MatchRequest
from server.hosting.settings import GameManagerSettings
from server.principal import Role
from server.records.entries import Entry, StartedEntry
from server.registry.registry import PlayerWishes
from server.storage.accounts import TokenStore
from server.storage.database import Database
from server.storage.exporting import ExportFilter, exported
from server.storage.publications import PublicationStore
from server.storage.queue import MatchQueue
from server.storage.schema import METADATA
from server.storage.tournament_rows import AnnulmentRow, InterventionKind, InterventionRow, TournamentStatus
from server.storage.tournaments import TournamentChange
from server.storage.writer import EventWriter
from server.tournament.fixtures import ScheduledMatch
from server.tournament.timetable import Timetable
from tests.kit.server.access.guarded_app import Client, bearer
from tests.kit.server.hosting.managing import YES, until
from tests.kit.server.hosting.tournaments import entrants, tournament
from tests.kit.server.peers import listening
from tests.kit.server.plays import TWO_STEPS

Value: TypeAlias = str | bytes | int | float | None
OFTEN = "100000/minute"
IS_WHOLE = os.environ.get("GGP_DAMAGE") == "all"
N_VALUES = 4 if IS_WHOLE else 1
"""How many values each column is given; `make damage` tries more."""
N_SKIPS = 1 if IS_WHOLE else 4
"""Every column so many after another is damaged; with `make damage` each."""
N_TURNS = 1 if IS_WHOLE else 4
"""Every address is asked once in so many damages of a table, the next one at the next; with `make damage` always."""
GARBAGE: tuple[Value, ...] = (
    "", "garbage", b"\xff\xfe\x00", "{}", "[]", "null", "5", '"x"', "[1, 2", '{"text": 5}', '["a", 5]', -1, 2**62, 0.5,
    "9" * 400, "[" * 5_000,
)  # fmt: skip
"""What SQLite keeps in any column."""


@dataclass(frozen=True)
class Model:
    """A file of SQLite with something in every table, and what it is called."""

    path: Path
    token: str
    other_token: str
    over: tuple[str, str]
    running: str
    queued: str
    hidden: str


def order(player: str, *roles: str, **words: Any) -> MatchRequest:
    players = {role: {"player": player} for role in roles or ("left", "right")}
    told = {"rules": TWO_STEPS, "players": players, "startClock": 5, "playClock": 5, "grace": 0} | words
    return MatchRequest.model_validate(told)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    """Return a file with matches that are over, played, hidden, and waiting."""
    path = tmp_path_factory.mktemp("damage") / "model.sqlite"
    with ThreadPoolExecutor(1) as thread:  # an event loop may be running in this one
        return thread.submit(asyncio.run, made(path)).result()


async def made(path: Path) -> Model:
    database = await Database.open(str(path))
    access = AccessControl(AccessSettings(), TokenStore(database))
    issued = await access.issuing.issue("ada", Role.ADMIN)
    other = await access.issuing.issue("bob", Role.PLAYER)
    await access.authentication.begin_session(other.row.id, 3_600)
    manager = GameManager(database, GameManagerSettings())
    await manager.start()
    async with listening(YES) as player:
        await manager.registry.register("yes", "ada", player, PlayerWishes(max_matches=5))
        orders = order("yes"), order("random", "x", "o", rules=None, game="tictactoe")
        over = [(await manager.order(each, by="ada")).row.id for each in orders]
        for match_id in over:
            await until(manager, match_id, "completed")
    tournaments = manager.tournaments.store
    row = tournament("cup", status=TournamentStatus.PAUSED, timetable=Timetable(absence_limit=60))
    assert await tournaments.add(row, entrants("legal", "random"))
    fixture = ScheduledMatch("t1.1", "tictactoe", ("p0", "p1"), 1, 2, 1, "pair", "t1")
    annulment = AnnulmentRow("t1.1", False, "a storm", "ada", 5)
    done = InterventionRow(InterventionKind.ANNUL, "ada", 5, "a storm", match_id="t1.1")
    found = await tournaments.read("cup")
    assert found is not None
    assert await tournaments.apply(
        found.row, TournamentChange(scheduled=[fixture], annulled=[annulment], interventions=[done])
    )
    await manager.close()
    idle = GameManager(database, GameManagerSettings())
    hiding = (False, True, False)
    live = [(await idle.order(order("yes", scramble=is_hidden), by="ada")).row.id for is_hidden in hiding]
    for match_id in live[:2]:
        await play_on(database, match_id, (await idle.journals.entries(over[0]))[:9])
    await idle.writer.check()
    await PublicationStore(database).begin(over)
    await database.close()
    return Model(path, str(issued.text), str(other.text), (over[0], over[1]), live[0], live[2], live[1])


async def play_on(database: Database, match_id: str, entries: list[Entry]) -> None:
    """Have another game manager play the match, as far as *entries* tell."""
    await MatchQueue(database).claim([match_id], "elsewhere", 100_000)
    writer = EventWriter(database, "elsewhere")
    for number, entry in enumerate(entries):
        writer.put(match_id, number, replace(entry, match_id=match_id) if isinstance(entry, StartedEntry) else entry)
    await writer.flush(match_id)
    await writer.close()


@asynccontextmanager
async def site(path: Path) -> AsyncIterator[tuple[Client, GameManager]]:
    """Serve the database at *path*; nothing is played."""
    database = await Database.open(str(path))
    limits = Limits(requests=OFTEN, orders=OFTEN, uploads=OFTEN, calls=OFTEN, logins=OFTEN)
    manager = GameManager(database, GameManagerSettings())
    access = AccessControl(AccessSettings(is_loopback=False, limits=limits), TokenStore(database))
    try:
        async with TestClient(TestServer(make_app(manager, access, Watch()))) as client:
            yield client, manager
    finally:
        await manager.close()
        await database.close()


def addresses(model: Model) -> Iterator[str]:
    """Yield the address of every page, list and feed that a damage could reach."""
    yield from ("/", "/parts/live", "/matches", "/matches?game=unnamed", "/matches?player=yes", "/queue", "/games")
    yield from ("/matches?status=completed", "/players", "/players/yes", "/games/tictactoe", "/start")
    yield from ("/api/v1/matches", "/api/v1/matches?limit=1", "/api/v1/games", "/api/v1/players", "/readyz", "/metrics")
    yield from ("/api/v1/tournaments", "/api/v1/tournaments/cup", "/tournaments", "/tournaments/cup?open=1")
    yield from ("/tournaments/cup/wall", "/tournaments/cup/entrants/p0", "/tournaments/cup/results.csv")
    yield from ("/tournaments/cup/boards?match=t1.1", "/leaderboards", "/leaderboards/tictactoe")
    yield from ("/api/v1/games/tictactoe", "/api/v1/players/yes", "/api/v1/tokens", "/admin")
    for match_id in (*model.over, model.running, model.queued, model.hidden):
        yield from (f"/matches/{match_id}", f"/matches/{match_id}/parts", f"/api/v1/matches/{match_id}")
        yield from (f"/api/v1/matches/{match_id}/journal", f"/api/v1/matches/{match_id}/states/0")
        yield f"/api/v1/matches/{match_id}/seats/left/transcript"


def damaged_copy(model: Model, folder: Path, table: str, column: str, place: int, value: Value) -> tuple[Path, Any]:
    """Return a copy of the file in which one column of one row has another value, and the row as it was."""
    path = folder / "ggp.sqlite"
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    shutil.copyfile(model.path, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.row_factory = sqlite3.Row
        rows = connection.execute(f"SELECT rowid AS place, * FROM {table} ORDER BY rowid").fetchall()
        rows = [row for row in rows if table != "tokens" or row["name"] == "bob"]
        row = rows[place % len(rows)]
        if isinstance(row[column], str) and value == "[1, 2":
            value = row[column][: len(row[column]) // 2]  # as a write that was cut off
        connection.execute(f'UPDATE OR IGNORE {table} SET "{column}" = ? WHERE rowid = ?', (value, row["place"]))
    return path, dict(row)


def own(table: str, row: dict[str, Any]) -> re.Pattern[str]:
    """Return what the addresses have that may answer that the row is damaged."""
    names = {"matches": "id", "seats": "match_id", "events": "match_id", "records": "match_id", "players": "name"}
    if table in ("tournaments", "entrants", "fixtures", "annulments", "interventions"):
        return re.compile("/tournaments/cup")
    if table in ("versions", "games"):
        return re.compile(f"/games/{re.escape(row['name'])}|/matches/|/start")
    return re.compile(f"/{re.escape(row[names[table]])}(/|$)" if table in names else "(?!)")


async def answered(client: Any, address: str, headers: dict[str, str]) -> tuple[int, str]:
    """Return the status and text of an address; on a busy machine the database may be reached a moment later."""
    for _ in range(100):
        async with client.get(address, headers=headers) as answer:
            status, text = answer.status, await answer.text()
        if address != "/readyz" or status != 503:
            break
        await asyncio.sleep(0.1)
    return status, text


async def trouble(client: Client, model: Model, pattern: re.Pattern[str], turn: int) -> list[str]:
    """Return what is answered with 500, but for pages of the damaged row that say so."""
    found = []
    for address in itertools.islice(addresses(model), turn % N_TURNS, None, N_TURNS):
        headers = bearer(model.token) | ({} if address.startswith("/api") else {"Accept": "text/html"})
        status, text = await answered(client, address, headers)
        is_told = '"code": "damaged"' in text or "What is kept of this is damaged" in text
        is_told &= pattern.search(address) is not None
        if status >= 500 and not is_told:
            found.append(f"{address}: {status} {text[:300]}")
    async with client.get("/api/v1/me", headers=bearer(model.other_token)) as answer:
        return found + ([] if answer.status in (200, 401) else [f"/me: {answer.status}"])


@pytest.mark.sampled(11)
@pytest.mark.parametrize("table", [table.name for table in METADATA.sorted_tables])
async def test_one_damaged_row_costs_one_match(
    table: str, model: Model, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    chance, found, turns = random.Random(table), [], itertools.count()
    for column in list(METADATA.tables[table].columns)[::N_SKIPS]:
        for value in chance.sample(GARBAGE, N_VALUES):
            place = chance.randrange(100)
            path, row = damaged_copy(model, tmp_path, table, column.name, place, value)
            async with site(path) as (client, manager):
                told = await trouble(client, model, own(table, row), next(turns))
                feed = client.app[OVERVIEW].changes(0)
                assert isinstance(feed, AsyncGenerator)
                await anext(feed)
                await feed.aclose()
                records = [each async for each in exported(manager.database, ExportFilter())]
                owed = await PublicationStore(manager.database).claim()
            exported_ids = {each.match_id for each in records if not each.error}
            lost = set(model.over) - exported_ids
            mine = {row.get("match_id", row.get("id"))} if table in ("matches", "records") else set(model.over)
            told += [f"not exported: {each}" for each in lost - mine]
            told += [f"not published: {each}" for each in set(model.over).difference(owed, row.values())]
            found += [f"{column} = {str(value)[:30]!r}: {each}" for each in told]
    assert found == []


async def test_lists_name_a_damaged_match(model: Model, tmp_path: Path) -> None:
    path, row = damaged_copy(model, tmp_path, "matches", "order", 0, "[1, 2")
    async with site(path) as (client, _):
        headers = bearer(model.token)
        async with client.get("/api/v1/matches", headers=headers) as answer:
            listed = {match["id"]: match for match in (await answer.json())["matches"]}
        pages = [await (await client.get(page, headers=headers)).text() for page in ("/", "/matches")]
        async with client.get(f"/api/v1/matches/{row['id']}", headers=headers) as answer:
            refused = answer.status, (await answer.json())["error"]
    assert listed[row["id"]]["damage"] == "order holds what cannot be read"
    assert [match for match, told in listed.items() if "damage" in told] == [row["id"]]
    assert [f"{row['id']} (damaged)" in page for page in pages] == [True, True]
    assert refused == (
        500,
        {
            "code": "damaged",
            "message": f"{row['id']} is damaged: order holds what cannot be read",
            "hint": "restore it from a backup, or do without it",
        },
    )


async def test_an_export_names_a_damaged_record(model: Model, tmp_path: Path) -> None:
    path, row = damaged_copy(model, tmp_path, "records", "body", 0, b"\xff\xfe\x00")
    database = await Database.open(str(path), exclusive=False)
    found = {each.match_id: each.error async for each in exported(database, ExportFilter())}
    await database.close()
    assert {key: bool(error) for key, error in found.items()} == {
        key: key == row["match_id"] for key in sorted(model.over)
    }
    assert json.dumps(found)
