"""The sample of examples that dials in plays whole matches, without a single error."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

from server.principal import Role
from server.storage.database import Database
from tests.kit.server.registry.host import finished, hosting, order, until_registered

SAMPLE = Path(__file__).resolve().parents[4] / "examples" / "dial_in_player.py"


async def test_the_sample_plays(sqlite: Database) -> None:
    async with hosting(sqlite, {"ada": Role.PLAYER}) as host:
        command = [sys.executable, str(SAMPLE), host.url, "plain", host.tokens["ada"]]
        process = await asyncio.create_subprocess_exec(*command)
        try:
            # An order may name a player only when it is registered.
            await until_registered(host, "plain")
            texts = [order({"x": "plain"}), order({"candidate": "plain"}, game="montyhall")]
            rows = [(await host.manager.order(text)).row for text in texts]
            records = [await finished(host, row.id) for row in rows]
        finally:
            process.kill()
            await process.wait()
    for record in records:
        assert record["isCompleted"]
        assert {error for step in record["errors"] for error in step} == {""}


async def test_the_sample_says_why_it_is_refused(sqlite: Database) -> None:
    async with hosting(sqlite, {"ada": Role.PLAYER}, plays=False) as host:
        command = [sys.executable, str(SAMPLE), host.url, "plain", "wrong"]
        process = await asyncio.create_subprocess_exec(*command, stderr=PIPE)
        _, complaint = await asyncio.wait_for(process.communicate(), 20)
    assert (process.returncode, "the token is not valid" in complaint.decode()) == (1, True)
