"""Random lives of game managers that share a database: every match is played, once, whatever befalls the managers."""

from __future__ import annotations

import asyncio
import gc
import random

import pytest
import sqlalchemy as sa

from gdl.language.rules import read_rules
from server.hosting import admission, game_manager
from server.hosting.engine_process import outline_here
from server.hosting.game_finder import new_version
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.games import GameStore
from server.storage.rows import LIVE_STATUSES, MatchStatus
from server.storage.schema import matches
from server.storage.tournaments import StoredTournament
from tests.kit.exhaustive import IS_EXHAUSTIVE
from tests.kit.polling import until
from tests.kit.server.api.tournament_lives import check_consistent, check_over
from tests.kit.server.api.tournaments import TOURNAMENTS
from tests.kit.server.api.whole_server import MATCHES
from tests.kit.server.hosting.outages import locked_table
from tests.kit.server.hosting.shared_lives import SharedLife, check_matches, check_rest, shared_life
from tests.kit.server.peers import OK, listening, request
from tests.kit.server.plays import TWO_STEPS

PLAYERS = "/api/v1/players"
NAMES = ("ann", "bob", "cid")
ANYONE = (*NAMES, "legal", "random")
FORMATS = ("swiss", "round-robin", "double-knockout", "knockout", "gauntlet", "ladder")
CLOCKS = {"startClock": 20, "playClock": 20}
N_STEPS = 40 if IS_EXHAUSTIVE else 12
N_LIVES = 20 if IS_EXHAUSTIVE else 1
WEIGHTS = {
    "match": 25, "cup": 5, "intervene": 30, "abort": 3, "come": 12, "close": 5, "kill": 10, "break": 10, "lock": 4,
    "remove": 5, "look": 5,
}  # fmt: skip


async def saying(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    _, body = await request(reader)
    await asyncio.sleep(random.uniform(0, 0.2))
    writer.write(OK + b"\r\n" + (random.choice((b"(say Yes)", b"(say no)")) if body.startswith("(PLAY") else b"ready"))


async def register(life: SharedLife, url: str) -> None:
    """Register those of the players that are not registered."""

    async def has_registered() -> bool:
        told = [await life.ask("POST", PLAYERS, name=name, url=f"{url}/{name}", maxMatches=2) for name in NAMES]
        return all(status in (201, 409) for status, _ in told)

    await until(has_registered)


async def order_match(life: SharedLife) -> None:
    players = {role: life.chance.choice(ANYONE) for role in ("left", "right")}
    status, told = await life.ask("POST", MATCHES, game="says", players=players, **CLOCKS)
    if status == 201:
        life.matches.add(told["id"])
        life.watch(told["id"])


async def order_cup(life: SharedLife) -> None:
    chance, name = life.chance, f"cup{len(life.cups)}"
    players = [{"name": f"p{i}", "player": chance.choice(ANYONE)} for i in range(chance.randint(2, 4))]
    terms = {"format": chance.choice(FORMATS), "games": ["says"], "rounds": chance.randint(1, 2), "players": players}
    status, _ = await life.ask("POST", TOURNAMENTS, name=name, **terms, **CLOCKS)
    life.cups += [name] if status == 201 else []
    await life.ask("POST", f"{TOURNAMENTS}/{name}/start")


async def found(life: SharedLife, name: str) -> StoredTournament:
    """Return the tournament *name*, as soon as the database answers."""

    async def looked_at() -> StoredTournament | None:
        try:
            return await life.member.manager.tournaments.get(name)
        except StorageError:
            return None

    return await until(looked_at)


async def intervene(life: SharedLife) -> None:
    """Do something that a host can do with a tournament, or what is to be refused."""
    if not life.cups:
        return
    chance = life.chance
    name, who = chance.choice(life.cups), f"p{chance.randrange(6)}"
    path, fixtures = f"{TOURNAMENTS}/{name}", (await found(life, name)).fixtures
    match chance.choice(("enter", "withdraw", "pause", "resume", "resume", "annul", "annul", "substitute")):
        case "enter":
            await life.ask("POST", f"{path}/entries", player=chance.choice(ANYONE), name=who)
        case "withdraw":
            await life.ask("DELETE", f"{path}/entries/{who}" + "?annul=true" * chance.randrange(2))
        case "annul" if fixtures:
            match_id, is_replayed = chance.choice(fixtures).match.match_id, chance.random() < 0.6
            await life.ask("POST", f"{path}/matches/{match_id}/annul", reason="a storm", replay=is_replayed)
        case "substitute":
            await life.ask("POST", f"{path}/entries/{who}/substitute", player="random", reason="its laptop burned")
        case "pause":
            await life.ask("POST", f"{path}/pause", reason="lunch")
        case "resume":
            await life.ask("POST", f"{path}/resume")


async def step(life: SharedLife, url: str) -> None:
    """Have something happen."""
    chance = life.chance
    match chance.choices(tuple(WEIGHTS), tuple(WEIGHTS.values()))[0]:
        case "match":
            await asyncio.gather(*(order_match(life) for _ in range(chance.randint(1, 5))))
        case "cup":
            await order_cup(life)
        case "intervene":
            await asyncio.gather(*(intervene(life) for _ in range(chance.randint(1, 4))))
        case "abort" if life.matches:
            await life.ask("POST", f"{MATCHES}/{chance.choice(sorted(life.matches))}/abort", reason="a storm")
        case "come" if len(life.members) < 4:
            await life.begin()
        case "close" | "kill" as how if len(life.members) > 1:
            await life.end(life.member, is_killed=how == "kill")
        case "break":
            await life.break_connections(chance.choice((0.3, 1.0)))
        case "lock":
            async with locked_table(life.address):
                await asyncio.sleep(chance.choice((0.1, 0.5)))
        case "remove":
            await life.ask("DELETE", f"{PLAYERS}/{chance.choice(NAMES)}")
            await register(life, url)
        case "look":
            for path in ("/", "/leaderboards", "/tournaments", *(f"/tournaments/{name}" for name in life.cups)):
                await life.look(path)
    await asyncio.sleep(chance.choice((0, 0.02, 0.1)))


async def free(life: SharedLife, name: str) -> bool:
    """Take away what keeps a tournament from its end; return whether that has come."""
    cup, path = await found(life, name), f"{TOURNAMENTS}/{name}"
    for i in range(3 * cup.row.waits_to_start):
        await life.ask("POST", f"{path}/entries", player="legal", name=f"late{i}")
    if cup.row.status == "paused":
        for one in cup.fixtures:
            if one.status == MatchStatus.ABORTED and one.match.match_id not in cup.annulments:
                await life.ask("POST", f"{path}/matches/{one.match.match_id}/annul", reason="a storm", replay=True)
        for who in cup.entrants:
            await life.ask("POST", f"{path}/entries/{who.name}/substitute", player="legal", reason="it is gone")
    if cup.row.status in ("open", "paused"):
        await life.ask("POST", f"{path}/{'start' if cup.row.status == 'open' else 'resume'}")
    return cup.row.has_ended


async def finish(life: SharedLife, url: str) -> None:
    """Take away all that keeps matches and tournaments from their end, which comes then."""
    await register(life, url)

    async def all_over() -> bool:
        for name in NAMES:
            await life.ask("POST", f"{PLAYERS}/{name}/resume")
        are_over = [await free(life, name) for name in life.cups]
        is_live = sa.select(sa.func.count()).select_from(matches).where(matches.c.status.in_(LIVE_STATUSES))
        return all(are_over) and await life.member.database.scalar(is_live) == 0

    await until(all_over, 120, pause_s=0.7)
    await asyncio.wait_for(asyncio.gather(*life.watching), 20)


# Of a killed manager that was opening a connection, which its process would take along.
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.parametrize("seed", range(N_LIVES))
async def test_managers_that_share_a_database_play_every_match_once(
    postgresql_address: str, seed: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(game_manager, "LOOK_S", 0.4)
    monkeypatch.setattr(admission, "REST_FACTOR", 0.2)
    database = await Database.open(postgresql_address)
    await GameStore(database).put(new_version("says", outline_here(read_rules(TWO_STEPS)), "ann"))
    await database.close()
    async with listening(saying) as url, shared_life(postgresql_address, random.Random(seed)) as life:
        await register(life, url)
        for _ in range(N_STEPS):
            await step(life, url)
        await finish(life, url)
        await check_matches(life)
        for cup in [await found(life, name) for name in life.cups]:
            check_consistent(cup, ())
            check_over(cup)
        await check_rest(life)
    gc.collect()
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []
