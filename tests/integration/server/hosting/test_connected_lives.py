"""Random lives of players that dial in, of the ladder, and of what is published, whatever befalls connections."""

from __future__ import annotations

import asyncio
import logging
import random
from pathlib import Path

import pytest
import sqlalchemy as sa

from gdl.language.rules import read_rules
from server.access import control
from server.hosting import admission, game_manager, idle_ladder, runner
from server.hosting.engine_process import outline_here
from server.hosting.game_finder import new_version
from server.match.dialogue import Dialogue
from server.spectating import publishing
from server.storage.database import Database
from server.storage.games import GameStore
from server.storage.rows import LIVE_STATUSES
from server.storage.schema import matches
from tests.kit.polling import until
from tests.kit.server.api.whole_server import MATCHES
from tests.kit.server.databases import copy_sqlite
from tests.kit.server.hosting.connected_lives import PLAYERS, ConnectedLife, connected_life
from tests.kit.server.hosting.connected_matches import check_matches
from tests.kit.server.plays import TWO_STEPS

N_STEPS = 60
N_LIVES = 12
MOODS = ("well", "fails", "hangs", "late", "cuts", "takes and cuts")
WEIGHTS = {
    "match": 25, "abort": 4, "restart": 4, "remove": 5, "revoke": 5, "change": 5, "pause": 5, "resume": 12, "mood": 12,
    "vanish": 4,
}  # fmt: skip
TIMES = (
    (game_manager, "LOOK_S", 0.1), (game_manager, "PAUSE_S", 0.01), (admission, "REST_FACTOR", 0.2),
    (idle_ladder, "LOOK_S", 0.2), (runner, "DIALLING_S", 0.3),
    (control, "CHECKED_S", 0.3), (publishing, "LIMIT_S", 0.2), (publishing, "ENDING_S", 0.3),
    (publishing, "WATCH_S", 0.2),
)  # fmt: skip


async def order_match(life: ConnectedLife) -> None:
    chance = life.chance
    terms = {"scramble": chance.random() < 0.2, "broadcastDelay": chance.choice(("live", "end", "1 step"))}
    players = {role: chance.choice((*life.players, "legal")) for role in ("left", "right")}
    order = {"game": "says", "players": players, "startClock": 1, "playClock": 1} | terms
    status, told = await life.ask("POST", MATCHES, order)
    life.matches |= {told["id"]} if status == 201 else set()


async def replace_token(life: ConnectedLife, name: str) -> None:
    for row in await life.access.issuing.listed():
        if row.name == name and row.revoked_ms is None:
            await life.access.issuing.revoke(row.id)
    await asyncio.sleep(life.chance.choice((0, 0.05, 0.4)))
    life.players[name].token = await life.issue(name)


async def step(life: ConnectedLife) -> None:
    """Have something happen."""
    life.check_players()
    chance, name = life.chance, life.chance.choice(tuple(life.players))
    path = f"{PLAYERS}/{name}"
    match chance.choices(tuple(WEIGHTS), tuple(WEIGHTS.values()))[0]:
        case "match":
            await order_match(life)
        case "abort" if life.matches:
            await life.ask("POST", f"{MATCHES}/{chance.choice(sorted(life.matches))}/abort", {"reason": "a storm"})
        case "restart":
            await life.end()
            await life.begin()
        case "remove":
            await life.ask("DELETE", path)
            await life.ask("POST", PLAYERS, {"name": name, "maxMatches": 2}, name)
        case "revoke":
            await replace_token(life, name)
        case "change":
            await life.ask("PATCH", path, {"joinsLadder": chance.random() < 0.5})
        case "pause" | "resume" as command:
            await life.ask("POST", f"{path}/{command}", {"reason": "lunch"} if command == "pause" else None)
        case "mood":
            life.receiver.mood = chance.choice(MOODS)
        case "vanish":
            _ = await life.receiver.go() or await life.receiver.come()
    await asyncio.sleep(chance.choice((0, 0.02, 0.1, 0.3)))


async def finish(life: ConnectedLife) -> None:
    """Take away all that keeps matches from their end, and records from the receiver."""
    life.receiver.mood = "well"
    await life.receiver.go()
    await life.receiver.come()
    for name, player in life.players.items():
        player.is_good = True
        await life.ask("PATCH", f"{PLAYERS}/{name}", {"joinsLadder": False})

    async def all_over() -> bool:
        life.check_players()
        for name in life.players:
            await life.ask("POST", f"{PLAYERS}/{name}/resume")
        is_live = sa.select(sa.func.count()).select_from(matches).where(matches.c.status.in_(LIVE_STATUSES))
        return bool(await life.database.scalar(is_live) == 0)

    await until(all_over, 60, pause_s=0.3)
    await life.publisher.close(30)


@pytest.mark.exhaustive
# Of a connection that the system took when its server was just closing, in a process that goes on.
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.parametrize("seed", range(N_LIVES))
async def test_whatever_befalls_connections_matches_end_are_published_and_rated(
    tmp_path: Path, seed: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name, seconds in TIMES:
        monkeypatch.setattr(module, name, seconds)
    monkeypatch.setattr(Dialogue, "limit_s", lambda *_: 0.4)
    caplog.set_level(logging.INFO)
    address = copy_sqlite(tmp_path, has_library=True)
    database = await Database.open(address)
    await GameStore(database).put(new_version("says", outline_here(read_rules(TWO_STEPS)), "ann"))
    await database.close()
    before = asyncio.all_tasks()
    async with connected_life(address, random.Random(seed)) as life:
        for _ in range(N_STEPS):
            await step(life)
        await finish(life)
        monkeypatch.setattr(idle_ladder, "RATED_S", 0.0)
        await check_matches(life, caplog.text)
    assert asyncio.all_tasks() == before
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
    assert [name for name, player in life.players.items() if player.token in caplog.text] == []
