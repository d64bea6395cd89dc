"""`ggp player --connect` against a server, over real sockets: the player is never called."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import groupby
from pathlib import Path

import pytest

from server.principal import Role
from server.storage.database import Database
from tests.kit.polling import until
from tests.kit.server.registry.host import asked, finished, hosting, order, playing_by_hand, until_registered

ROOT = Path(__file__).resolve().parents[4]


@asynccontextmanager
async def dialling(url: str, *arguments: str, token: str = "", player: str = "legal") -> AsyncIterator[Process]:
    """Run `ggp player --connect URL` while the block runs."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "server", "player", player, "--connect", url, *arguments,
        cwd=ROOT, env=os.environ | {"GGP_TOKEN": token}, stdout=PIPE, stderr=PIPE,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await asyncio.wait_for(process.communicate(), 20)  # its pipes end after it, with what it has started


async def line(process: Process) -> str:
    assert process.stdout is not None
    return (await asyncio.wait_for(process.stdout.readline(), 30)).decode().rstrip("\n")


@pytest.mark.exhaustive
async def test_a_player_registers_itself_plays_and_leaves(sqlite: Database) -> None:
    async with hosting(sqlite, {"ada": Role.PLAYER}) as host:
        token = host.tokens["ada"]
        async with dialling(host.url, "--name", "deep", "--max-matches", "2", token=token) as process:
            said = [await line(process), await line(process)]
            ordered = [await host.manager.order(order({role: "deep"})) for role in ("x", "o")]
            records = [await finished(host, each.row.id) for each in ordered]
            row = await host.manager.registry.get("deep")
        code = process.returncode
    assert said == [f"registered deep at {host.url}", f"connected to {host.url} as deep"]
    assert (row.owner, row.max_matches, code) == ("ada", 2, 0)
    for record in records:
        assert record["isCompleted"]
        assert {error for step in record["errors"] for error in step} == {""}


async def test_a_match_goes_on_when_the_server_comes_back(sqlite: Database) -> None:
    async with AsyncExitStack() as players:
        async with hosting(sqlite) as host:
            port = int(host.url.rpartition(":")[2])
            process = await players.enter_async_context(dialling(host.url, "--name", "deep"))
            said = [await line(process), await line(process)]
            match_id = (await host.manager.order(order({"x": "deep", "o": "human"}))).row.id
            await asked(host, match_id, "o", 1)
            await until(lambda: not host.manager.request_queues.of_player("deep").waiting)
        async with hosting(sqlite, port=port) as host, playing_by_hand(host, match_id, "o"):
            record = await finished(host, match_id)
        while not said[-1].endswith("is over"):
            said.append(await line(process))
    # How often it tries in vain to come back depends on the machine.
    assert [told for told, _ in groupby(each.partition(" (")[0] for each in said)] == [
        f"registered deep at {host.url}", f"connected to {host.url} as deep", f"match {match_id}: plays x",
        "connection lost", f"connected to {host.url} as deep", f"match {match_id}: is over",
    ]  # fmt: skip
    assert record["isCompleted"]
    assert {error for step in record["errors"] for error in step} == {""}


@pytest.mark.exhaustive
async def test_a_player_that_begins_anew_plays_on(sqlite: Database) -> None:
    async with hosting(sqlite) as host:
        async with dialling(host.url, "--name", "deep"):
            await until_registered(host, "deep")
            match_id = (await host.manager.order(order({"x": "deep", "o": "human"}))).row.id
            await asked(host, match_id, "o", 1)
        async with dialling(host.url, "--name", "deep"), playing_by_hand(host, match_id, "o"):
            record = await finished(host, match_id)
    assert record["isCompleted"]
    assert {error for step in record["errors"] for error in step} == {""}


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    ("arguments", "token", "message"),
    [
        (("--name", "deep"), "wrong", "the token is not valid"),
        (("--name", "deep"), "", "a token is needed here"),
        (("--name", "mcts"), None, "no player can be called 'mcts'"),
        (("--name", "a/b"), None, "no player may be called 'a/b': a name has 1 to 64 letters"),
        (
            ("--name", "hers"),
            None,
            "the player hers belongs to another owner (choose another name for a player of your own)",
        ),
        (("--name", "distant"), None, "has an address there"),
    ],
)
async def test_a_refused_player_learns_why(
    sqlite: Database, arguments: tuple[str, ...], token: str | None, message: str
) -> None:
    async with hosting(sqlite, {"ada": Role.PLAYER}, plays=False) as host:
        await host.manager.registry.register("hers", "grace")
        await host.manager.registry.register("distant", "ada", "http://127.0.0.1:1")
        async with dialling(host.url, *arguments, token=host.tokens["ada"] if token is None else token) as process:
            _, complaint = await asyncio.wait_for(process.communicate(), 30)
    assert (process.returncode, message in complaint.decode()) == (1, True), complaint.decode()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "localhost", "http://nowhere.invalid"])
async def test_where_no_server_is(url: str) -> None:
    async with dialling(url) as process:
        _, complaint = await asyncio.wait_for(process.communicate(), 30)
    text = complaint.decode()
    assert (process.returncode, url in text, "Traceback" in text) == (1, True, False), text
